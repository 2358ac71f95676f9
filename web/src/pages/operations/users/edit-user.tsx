import { Checkbox, NumberInput, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api } from '../../../api/client';
import { useMessages } from '../../../i18n/language';
import { FormModal } from '../../../shared/form-modal';
import type { User } from './queries';

interface Values {
  name: string;
  email: string;
  admin: boolean;
  quota: number | string;
}

interface Props {
  user: User;
  /** The account of the first start stays an administrator. */
  alwaysAdmin: boolean;
  onClose: () => void;
}

export function EditUser({ user, alwaysAdmin, onClose }: Props) {
  const { operations: t, common } = useMessages();
  const queryClient = useQueryClient();
  const form = useForm<Values>({
    initialValues: {
      name: user.display_name ?? '',
      email: user.email ?? '',
      admin: user.is_admin,
      quota: user.file_quota ?? '',
    },
  });
  const save = useMutation({
    meta: { ownErrors: true },
    mutationFn: ({ name, email, admin, quota }: Values) =>
      api.PATCH('/users/{id}', {
        params: { path: { id: String(user.id) } },
        body: {
          display_name: name,
          email: email === '' ? null : email,
          file_quota: typeof quota === 'number' ? quota : null,
          ...(alwaysAdmin ? {} : { is_admin: admin }),
        },
      }),
    onSuccess: () => {
      onClose();
      return queryClient.invalidateQueries({ queryKey: ['users'] });
    },
  });
  return (
    <FormModal
      title={t.editUser(user.display_name ?? common.user(user.id))}
      opened
      onClose={onClose}
      onSubmit={form.onSubmit((values) => save.mutate(values))}
      submit={common.save}
      pending={save.isPending}
      error={save.error}
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
      {!alwaysAdmin && <Checkbox label={t.admin} {...form.getInputProps('admin', { type: 'checkbox' })} />}
    </FormModal>
  );
}
