import { Button, Group, Textarea } from '@mantine/core';
import { useForm } from '@mantine/form';
import { notifications } from '@mantine/notifications';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { send } from '../../../api/client';
import { useMessages } from '../../../i18n/language';
import { configQuery } from './queries';

interface Props {
  partition: string;
  description: string;
}

export function DescriptionForm({ partition, description }: Props) {
  const { documents: t, common } = useMessages();
  const queryClient = useQueryClient();
  const form = useForm({ initialValues: { description } });
  const save = useMutation({
    mutationFn: (values: { description: string }) =>
      send(`/partition/${encodeURIComponent(partition)}`, {
        method: 'PATCH',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(values),
      }),
    onSuccess: () => {
      notifications.show({ color: 'green', message: t.saved });
      form.resetDirty();
      return Promise.all(
        [['partitions'], configQuery(partition).queryKey].map((queryKey) =>
          queryClient.invalidateQueries({ queryKey }),
        ),
      );
    },
  });
  return (
    <form onSubmit={form.onSubmit((values) => save.mutate(values))}>
      <Textarea
        label={t.description}
        autosize
        minRows={2}
        maxRows={8}
        {...form.getInputProps('description')}
      />
      <Group justify="end" mt="xs">
        <Button type="submit" loading={save.isPending} disabled={!form.isDirty()}>
          {common.save}
        </Button>
      </Group>
    </form>
  );
}
