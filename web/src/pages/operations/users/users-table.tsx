import { Badge, Button, Group } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, bodyOf } from '../../../api/client';
import { useSession, useSignIn } from '../../../api/session';
import { useFormat } from '../../../i18n/format';
import { useMessages } from '../../../i18n/language';
import { ConfirmButton } from '../../../shared/confirm-button';
import { Time } from '../../../shared/time';
import { VirtualTable } from '../../../shared/virtual-table';
import type { Column } from '../../../shared/virtual-table';
import { EditUser } from './edit-user';
import type { NewToken, User } from './queries';

interface Props {
  users: readonly User[];
  onToken: (token: NewToken) => void;
}

/** The account of the first start; the server does not delete it. */
const FIRST_ADMIN = 1;

function UserActions({ user, name, onToken }: { user: User; name: string; onToken: Props['onToken'] }) {
  const { operations: t } = useMessages();
  const queryClient = useQueryClient();
  const session = useSession().data;
  const signIn = useSignIn();
  const [edited, setEdited] = useState(false);
  /** The session ends with the token that it was opened with, and this page with the session. */
  const isOwn = session?.user?.id === user.id && !session.provider;
  const renew = useMutation({
    mutationFn: async () => {
      const params = { path: { id: String(user.id) } };
      const { token } = await bodyOf(api.POST('/users/{id}/regenerate_token', { params }));
      // The old one is dead by now: the new one has to be shown in any case.
      if (isOwn) await signIn.mutateAsync(token).catch(() => undefined);
      return token;
    },
    onSuccess: (token) => onToken({ name, token }),
  });
  const question = isOwn ? t.ownTokenQuestion(session.management) : t.newTokenQuestion(name);
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
      <ConfirmButton label={t.newToken} question={question} onConfirm={() => renew.mutate()} />
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
