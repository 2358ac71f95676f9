import { Button } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDisclosure } from '@mantine/hooks';
import { send } from '../../../api/client';
import { useMessages } from '../../../i18n/language';
import { FormModal } from '../../../shared/form-modal';
import type { UserValues } from './change-user';
import type { NewToken } from './queries';
import { UserFields, useSaveUser } from './user-form';

async function create({ name, email, admin, quota }: UserValues): Promise<NewToken> {
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
  const [opened, { open, close }] = useDisclosure(false);
  const form = useForm<UserValues>({ initialValues: { name: '', email: '', admin: false, quota: '' } });
  const add = useSaveUser(create, (token) => {
    onToken(token);
    close();
    form.reset();
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
        <UserFields form={form} adminToo />
      </FormModal>
    </>
  );
}
