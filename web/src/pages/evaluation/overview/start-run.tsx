import { Button, Checkbox, Modal, NumberInput, Select, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDisclosure } from '@mantine/hooks';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { api } from '../../../api/client';
import { useMessages } from '../../../i18n/language';
import { ErrorNotice } from '../../../shared/error-notice';
import { FormButtons } from '../../../shared/form-buttons';
import { setsQuery } from '../queries';

interface Values {
  set: string | null;
  label: string;
  chat: boolean;
  topK: number;
}

export function StartRun({ partition }: { partition: string }) {
  const { evaluation: t, common } = useMessages();
  const queryClient = useQueryClient();
  const [opened, { open, close }] = useDisclosure(false);
  const sets = useQuery(setsQuery(partition));
  const names = sets.data?.map(({ name }) => name) ?? [];
  const form = useForm<Values>({ initialValues: { set: null, label: '', chat: false, topK: 50 } });
  const start = useMutation({
    meta: { ownErrors: true },
    mutationFn: ({ set, label, chat, topK }: Values) =>
      api.POST('/evaluation/partition/{partition}/runs', {
        params: { path: { partition } },
        body: {
          set: set ?? names[0] ?? '',
          label: label === '' ? null : label,
          chat,
          top_k: topK,
          overrides: {},
        },
      }),
    onSuccess: () => {
      close();
      return queryClient.invalidateQueries({ queryKey: ['evaluation', partition, 'runs'] });
    },
  });
  return (
    <>
      <Button onClick={open} disabled={names.length === 0}>
        {t.startRun}
      </Button>
      <Modal
        opened={opened}
        onClose={close}
        title={t.startRun}
        closeButtonProps={{ 'aria-label': common.close }}
      >
        <form onSubmit={form.onSubmit((values) => start.mutate(values))}>
          <Stack>
            <Select
              label={t.set}
              data={names}
              allowDeselect={false}
              {...form.getInputProps('set')}
              value={form.values.set ?? names[0] ?? null}
            />
            <TextInput
              label={t.label}
              description={t.labelHint}
              maxLength={200}
              {...form.getInputProps('label')}
            />
            <NumberInput label={t.topK} min={1} max={100} {...form.getInputProps('topK')} />
            <Checkbox label={t.withChat} {...form.getInputProps('chat', { type: 'checkbox' })} />
            {start.isError && <ErrorNotice error={start.error} />}
            <FormButtons submit={t.start} pending={start.isPending} onCancel={close} />
          </Stack>
        </form>
      </Modal>
    </>
  );
}
