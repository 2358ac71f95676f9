import { Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { notifications } from '@mantine/notifications';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { send } from '../../../api/client';
import { useMessages } from '../../../i18n/language';
import { FormModal } from '../../../shared/form-modal';
import type { FileRow } from '../queries';
import { changesOf, pairsOf } from './metadata';

interface Props {
  partition: string;
  file: FileRow;
  onClose: () => void;
}

export function MetadataEditor({ partition, file, onClose }: Props) {
  const { documents: t, common } = useMessages();
  const queryClient = useQueryClient();
  const form = useForm({ initialValues: { pairs: pairsOf(file) } });
  const save = useMutation({
    meta: { ownErrors: true },
    mutationFn: (changes: Record<string, unknown>) => {
      const body = new FormData();
      body.set('metadata', JSON.stringify(changes));
      const path = `/indexer/partition/${encodeURIComponent(partition)}/file/${encodeURIComponent(file.file_id)}`;
      return send(path, { method: 'PATCH', body });
    },
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: ['files', partition] });
      notifications.show({ color: 'green', message: t.metadataSaved });
      onClose();
    },
  });
  const submit = form.onSubmit(({ pairs }) => {
    const changes = changesOf(file, pairs);
    if (Object.keys(changes).length === 0) onClose();
    else save.mutate(changes);
  });
  return (
    <FormModal
      title={t.editMetadata(file.file_id)}
      opened
      onClose={onClose}
      onSubmit={submit}
      submit={common.save}
      pending={save.isPending}
      error={save.error}
      size="lg"
      extra={
        <Button variant="default" onClick={() => form.insertListItem('pairs', { key: '', value: '' })}>
          {t.metadataAdd}
        </Button>
      }
    >
      <Text size="sm" c="dimmed">
        {t.metadataHint}
      </Text>
      <Stack gap="xs">
        {form.values.pairs.map((_pair, index) => (
          <Group key={index} grow gap="xs">
            <TextInput aria-label={t.metadataKey} {...form.getInputProps(`pairs.${index}.key`)} />
            <TextInput aria-label={t.metadataValue} {...form.getInputProps(`pairs.${index}.value`)} />
          </Group>
        ))}
      </Stack>
    </FormModal>
  );
}
