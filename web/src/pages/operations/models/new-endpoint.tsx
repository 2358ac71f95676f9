import { Button, PasswordInput, Select, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDisclosure } from '@mantine/hooks';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { send } from '../../../api/client';
import { useMessages } from '../../../i18n/language';
import { FormModal } from '../../../shared/form-modal';
import type { Endpoint } from './queries';

interface Values {
  name: string;
  type: Endpoint['model_type'];
  endpoint: string;
  model: string;
  key: string;
}

const KINDS = ['embedder', 'llm', 'reranker', 'vlm', 'stt'] as const;

/** Only what was filled in: the server has a default for the rest. */
function create({ name, type, endpoint, model, key }: Values) {
  return send('/model-endpoints/', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({
      name,
      model_type: type,
      endpoint,
      ...(model === '' ? {} : { model_name: model }),
      ...(key === '' ? {} : { extra: { api_key: key } }),
    }),
  });
}

export function NewEndpoint() {
  const { operations: t, common } = useMessages();
  const queryClient = useQueryClient();
  const [opened, { open, close }] = useDisclosure(false);
  const form = useForm<Values>({
    initialValues: { name: '', type: 'llm', endpoint: '', model: '', key: '' },
  });
  const add = useMutation({
    meta: { ownErrors: true },
    mutationFn: create,
    onSuccess: () => {
      close();
      form.reset();
      return queryClient.invalidateQueries({ queryKey: ['models'] });
    },
  });
  return (
    <>
      <Button onClick={open}>{t.addEndpoint}</Button>
      <FormModal
        title={t.addEndpoint}
        opened={opened}
        onClose={close}
        onSubmit={form.onSubmit((values) => add.mutate(values))}
        submit={common.create}
        pending={add.isPending}
        error={add.error}
      >
        <TextInput label={common.name} required data-autofocus {...form.getInputProps('name')} />
        <Select
          label={t.kind}
          data={KINDS.map((value) => ({ value, label: t.kinds[value] }))}
          allowDeselect={false}
          {...form.getInputProps('type')}
        />
        <TextInput
          label={t.address}
          placeholder="http://127.0.0.1:11434"
          description={form.values.type === 'reranker' ? t.rerankerAddress : undefined}
          required
          {...form.getInputProps('endpoint')}
        />
        <TextInput label={t.model} {...form.getInputProps('model')} />
        <PasswordInput label={t.apiKey} autoComplete="off" {...form.getInputProps('key')} />
      </FormModal>
    </>
  );
}
