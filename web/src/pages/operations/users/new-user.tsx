import { Button, Checkbox, NumberInput, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDisclosure } from '@mantine/hooks';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { send } from '../../../api/client';
import { useMessages } from '../../../i18n/language';
import { FormModal } from '../../../shared/form-modal';
import type { NewToken } from './queries';

interface Values {
  name: string;
  email: string;
  admin: boolean;
  quota: number | string;
}

async function create({ name, email, admin, quota }: Values): Promise<NewToken> {
  const response = await send('/users/', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({
      display_name: name,
      is_admin: admin,
      ...(email === '' ? {} : { email }),
      ...(typeof quota === 'number' ? { file_quota: quota } : {}),
    }),
  });
  const { token } = (await response.json()) as { token: string };
  return { name, token };
}

export function NewUser({ onToken }: { onToken: (token: NewToken) => void }) {
  const { operations: t, common } = useMessages();
  const queryClient = useQueryClient();
  const [opened, { open, close }] = useDisclosure(false);
  const form = useForm<Values>({ initialValues: { name: '', email: '', admin: false, quota: '' } });
  const add = useMutation({
    meta: { ownErrors: true },
    mutationFn: create,
    onSuccess: (token) => {
      onToken(token);
      close();
      form.reset();
      return queryClient.invalidateQueries({ queryKey: ['users'] });
    },
  });
  return (
    <>
      <Button onClick={open}>{t.newUser}</Button>
      <FormModal
        title={t.newUser}
        opened={opened}
        onClose={close}
        onSubmit={form.onSubmit((values) => add.mutate(values))}
        submit={common.create}
        pending={add.isPending}
        error={add.error}
      >
        <TextInput label={t.displayName} required data-autofocus {...form.getInputProps('name')} />
        <TextInput label={t.email} type="email" {...form.getInputProps('email')} />
        <NumberInput
          label={t.quota}
          description={t.quotaHint}
          min={-1}
          allowDecimal={false}
          {...form.getInputProps('quota')}
        />
        <Checkbox label={t.admin} {...form.getInputProps('admin', { type: 'checkbox' })} />
      </FormModal>
    </>
  );
}
