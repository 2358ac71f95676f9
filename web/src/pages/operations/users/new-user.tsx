import { Button, Checkbox, Modal, NumberInput, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDisclosure } from '@mantine/hooks';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { send } from '../../../api/client';
import { useMessages } from '../../../i18n/language';
import { ErrorNotice } from '../../../shared/error-notice';
import { FormButtons } from '../../../shared/form-buttons';
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
      <Modal
        opened={opened}
        onClose={close}
        title={t.newUser}
        closeButtonProps={{ 'aria-label': common.close }}
      >
        <form onSubmit={form.onSubmit((values) => add.mutate(values))}>
          <Stack>
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
            {add.isError && <ErrorNotice error={add.error} />}
            <FormButtons submit={common.create} pending={add.isPending} onCancel={close} />
          </Stack>
        </form>
      </Modal>
    </>
  );
}
