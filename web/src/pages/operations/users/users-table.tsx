import { Badge, Button, Group } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../../api/client';
import { useFormat } from '../../../i18n/format';
import { useMessages } from '../../../i18n/language';
import { ConfirmButton } from '../../../shared/confirm-button';
import { Time } from '../../../shared/time';
import { VirtualTable } from '../../../shared/virtual-table';
import type { Column } from '../../../shared/virtual-table';
import { EditUser } from './edit-user';
import type { NewToken, User } from './queries';
import { useNewToken } from './use-new-token';

interface Props {
  users: readonly User[];
  onToken: (token: NewToken) => void;
}

/** The account of the first start; the server does not delete it. */
const FIRST_ADMIN = 1;

function UserActions({ user, name, onToken }: { user: User; name: string; onToken: Props['onToken'] }) {
  const { operations: t } = useMessages();
  const queryClient = useQueryClient();
  const [edited, setEdited] = useState(false);
  const { question, renew } = useNewToken({ id: user.id, name }, onToken);
  const remove = useMutation({
    mutationFn: () => api.DELETE('/users/{id}', { params: { path: { id: String(user.id) } } }),
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['users'] }),
  });
  return (
    <Group gap="xs" wrap="nowrap">
      <Button size="xs" variant="default" aria-label={t.editUser(name)} onClick={() => setEdited(true)}>
        {t.edit}
      </Button>
      {edited && (
        <EditUser user={user} alwaysAdmin={user.id === FIRST_ADMIN} onClose={() => setEdited(false)} />
      )}
      <ConfirmButton label={t.newToken} question={question} onConfirm={renew} />
      {user.id !== FIRST_ADMIN && (
        <ConfirmButton
          label={t.deleteUser}
          question={t.deleteUserQuestion(name)}
          onConfirm={() => remove.mutate()}
        />
      )}
    </Group>
  );
}

export function UsersTable({ users, onToken }: Props) {
  const { operations: t, common, documents } = useMessages();
  const format = useFormat();
  const nameOf = ({ id, display_name: name }: User): string => name ?? common.user(id);
  const quotaOf = ({ file_quota: quota }: User): string => {
    if (quota === null) return t.byDefault;
    return quota < 0 ? t.unlimited : format.number(quota);
  };
  const columns: Column<User>[] = [
    { key: 'name', header: t.displayName, width: 'minmax(110px, 2fr)', cell: nameOf },
    { key: 'email', header: t.email, width: 'minmax(110px, 2fr)', cell: ({ email }) => email },
    {
      key: 'admin',
      header: t.admin,
      width: '125px',
      cell: ({ is_admin: admin }) => admin && <Badge variant="default">{t.admin}</Badge>,
    },
    {
      key: 'files',
      header: t.files,
      width: '70px',
      cell: ({ file_count: count }) => format.number(count),
    },
    { key: 'quota', header: t.quota, width: '130px', cell: quotaOf },
    {
      key: 'created',
      header: documents.created,
      width: '140px',
      cell: ({ created_at: at }) => <Time at={at} />,
    },
    {
      key: 'actions',
      header: common.actions,
      width: '350px',
      cell: (user) => <UserActions user={user} name={nameOf(user)} onToken={onToken} />,
    },
  ];
  return (
    <VirtualTable label={t.users} rows={users} columns={columns} rowKey={({ id }) => id} minWidth={1090} />
  );
}
