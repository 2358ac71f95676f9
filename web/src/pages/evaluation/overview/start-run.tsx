import { Button, Checkbox, NumberInput, Select, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDisclosure } from '@mantine/hooks';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { api } from '../../../api/client';
import { useSession } from '../../../api/session';
import { useMessages } from '../../../i18n/language';
import { FormModal } from '../../../shared/form-modal';
import { PresetSelect } from '../../operations/models/preset-select';
import { setsQuery } from '../queries';

interface Values {
  set: string | null;
  label: string;
  chat: boolean;
  preset: string | null;
  topK: number;
}

export function StartRun({ partition }: { partition: string }) {
  const { evaluation: t, ask } = useMessages();
  const queryClient = useQueryClient();
  const [opened, { open, close }] = useDisclosure(false);
  const sets = useQuery(setsQuery(partition));
  const names = sets.data?.map(({ name }) => name) ?? [];
  const form = useForm<Values>({
    initialValues: { set: null, label: '', chat: false, preset: null, topK: 50 },
  });
  const isAdmin = useSession().data?.user?.is_admin === true;
  const start = useMutation({
    meta: { ownErrors: true },
    mutationFn: ({ set, label, chat, preset, topK }: Values) =>
      api.POST('/evaluation/partition/{partition}/runs', {
        params: { path: { partition } },
        body: {
          set: set ?? names[0] ?? '',
          label: label === '' ? null : label,
          chat,
          top_k: topK,
          preset,
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
      <FormModal
        title={t.startRun}
        opened={opened}
        onClose={close}
        onSubmit={form.onSubmit((values) => start.mutate(values))}
        submit={t.start}
        pending={start.isPending}
        error={start.error}
      >
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
        {isAdmin && (
          <PresetSelect
            type="retrieval"
            label={ask.preset}
            none={ask.ownPreset}
            value={form.values.preset}
            onChange={(preset) => form.setFieldValue('preset', preset)}
          />
        )}
        <NumberInput label={t.topK} min={1} max={100} {...form.getInputProps('topK')} />
        <Checkbox label={t.withChat} {...form.getInputProps('chat', { type: 'checkbox' })} />
      </FormModal>
    </>
  );
}
