import { Button, FileInput, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDisclosure } from '@mantine/hooks';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api } from '../../../api/client';
import { useMessages } from '../../../i18n/language';
import { FormModal } from '../../../shared/form-modal';
import { NotUtf8, readUtf8 } from './read-utf8';

interface Values {
  name: string;
  note: string;
  file: File | null;
}

/** A version of a set from a file; what is wrong with it is told with its line, and nothing is kept then. */
export function UploadSet({ partition }: { partition: string }) {
  const { evaluation: t } = useMessages();
  const queryClient = useQueryClient();
  const [opened, { open, close }] = useDisclosure(false);
  const form = useForm<Values>({
    initialValues: { name: '', note: '', file: null },
    validate: { file: (file) => (file === null ? t.fileNeeded : null) },
  });
  const upload = useMutation({
    meta: { ownErrors: true },
    mutationFn: async ({ name, note, file }: Values) =>
      api.POST('/evaluation/partition/{partition}/question-sets/{set}', {
        params: { path: { partition, set: name } },
        body: {
          format: /\.csv$/i.test(file?.name ?? '') ? 'csv' : 'jsonl',
          content: file === null ? '' : await readUtf8(file),
          note: note === '' ? null : note,
        },
      }),
    onError: (error) => {
      if (error instanceof NotUtf8) form.setFieldError('file', t.notUtf8);
    },
    onSuccess: () => {
      close();
      form.reset();
      return queryClient.invalidateQueries({ queryKey: ['evaluation', partition] });
    },
  });
  return (
    <>
      <Button variant="default" onClick={open}>
        {t.uploadSet}
      </Button>
      <FormModal
        title={t.uploadSet}
        opened={opened}
        onClose={close}
        onSubmit={form.onSubmit((values) => upload.mutate(values))}
        submit={t.upload}
        pending={upload.isPending}
        error={upload.error instanceof NotUtf8 ? null : upload.error}
      >
        <Text size="sm" c="dimmed">
          {t.uploadSetHint}
        </Text>
        <TextInput label={t.setName} required data-autofocus {...form.getInputProps('name')} />
        <FileInput
          label={t.file}
          placeholder={t.chooseFile}
          accept=".jsonl,.csv,.ndjson,.json"
          required
          {...form.getInputProps('file')}
        />
        <TextInput label={t.note} maxLength={500} {...form.getInputProps('note')} />
      </FormModal>
    </>
  );
}
