import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useMessages } from '../../../i18n/language';
import { Page } from '../../../shared/page';
import { QueryView } from '../../../shared/query-view';
import { NewUser } from './new-user';
import { usersQuery } from './queries';
import type { NewToken } from './queries';
import { TokenNotice } from './token-notice';
import { UsersTable } from './users-table';

function UsersPage() {
  const { operations: t } = useMessages();
  const users = useQuery(usersQuery);
  const [shown, setShown] = useState<NewToken | null>(null);
  return (
    <Page title={t.users} hint={t.usersHint} actions={<NewUser onToken={setShown} />}>
      {shown !== null && <TokenNotice token={shown} onClose={() => setShown(null)} />}
      <QueryView query={users}>{(list) => <UsersTable users={list} onToken={setShown} />}</QueryView>
    </Page>
  );
}

export default UsersPage;
