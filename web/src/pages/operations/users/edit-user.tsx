import { useForm } from '@mantine/form';
import { useMessages } from '../../../i18n/language';
import { FormModal } from '../../../shared/form-modal';
import { changeUser } from './change-user';
import type { UserValues } from './change-user';
import type { User } from './queries';
import { UserFields, useSaveUser } from './user-form';

interface Props {
  user: User;
  /** The account of the first start stays an administrator. */
  alwaysAdmin: boolean;
  onClose: () => void;
}

export function EditUser({ user, alwaysAdmin, onClose }: Props) {
  const { operations: t, common } = useMessages();
  const form = useForm<UserValues>({
    initialValues: {
      name: user.display_name ?? '',
      email: user.email ?? '',
      admin: user.is_admin,
      quota: user.file_quota ?? '',
    },
  });
  const save = useSaveUser((values) => changeUser(user.id, form.getInitialValues(), values), onClose);
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
      <UserFields form={form} adminToo={!alwaysAdmin} />
    </FormModal>
  );
}
