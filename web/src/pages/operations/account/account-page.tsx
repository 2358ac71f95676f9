import { Anchor, Table, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { accountQuery } from '../../../api/account';
import type { components } from '../../../api/schema.gen';
import { useFormat } from '../../../i18n/format';
import { useMessages } from '../../../i18n/language';
import { ConfirmButton } from '../../../shared/confirm-button';
import { Empty } from '../../../shared/empty';
import { Facts } from '../../../shared/facts';
import { Page } from '../../../shared/page';
import { QueryView } from '../../../shared/query-view';
import { to } from '../../../shared/routes';
import { ScrollTable } from '../../../shared/scroll-table';
import { Time } from '../../../shared/time';
import type { NewToken } from '../users/queries';
import { TokenNotice } from '../users/token-notice';
import { useNewToken } from '../users/use-new-token';

type Me = components['schemas']['Me'];

function RenewToken({ me, onToken }: { me: Me; onToken: (token: NewToken) => void }) {
  const { operations: t, common } = useMessages();
  const name = me.display_name ?? common.user(me.id);
  const { question, renew } = useNewToken({ id: me.id, name }, onToken);
  return <ConfirmButton size="sm" label={t.newToken} question={question} onConfirm={renew} />;
}

function Memberships({ memberships }: { memberships: Me['memberships'] }) {
  const { operations: t, documents } = useMessages();
  if (memberships.length === 0) return <Empty title={t.noMemberships} />;
  return (
    <ScrollTable label={t.memberships} minWidth={420}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{documents.partitionName}</Table.Th>
          <Table.Th>{documents.role}</Table.Th>
          <Table.Th>{documents.added}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {memberships.map(({ partition, role, added_at: added }) => (
          <Table.Tr key={partition}>
            <Table.Td style={{ overflowWrap: 'anywhere' }}>
              <Anchor component={Link} href={to.partition(partition)} size="sm">
                {partition}
              </Anchor>
            </Table.Td>
            <Table.Td>{documents.roles[role]}</Table.Td>
            <Table.Td>
              <Time at={added} />
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </ScrollTable>
  );
}

function Account({ me }: { me: Me }) {
  const { operations: t, common } = useMessages();
  const format = useFormat();
  const used = format.number(me.total_files);
  return (
    <>
      <Facts
        label={common.account}
        facts={[
          [t.displayName, me.display_name ?? common.user(me.id)],
          [t.email, me.email],
          [t.admin, me.is_admin && common.yes],
          [
            t.uploadedFiles,
            me.file_quota < 0 ? t.usedFreely(used) : t.used(used, format.number(me.file_quota)),
          ],
        ]}
      />
      <section aria-label={t.memberships}>
        <Title order={2} size="h4" mb="xs">
          {t.memberships}
        </Title>
        <Memberships memberships={me.memberships} />
      </section>
    </>
  );
}

/** What every user may know and do of their own account. */
function AccountPage() {
  const { operations: t, common } = useMessages();
  const account = useQuery(accountQuery);
  const [shown, setShown] = useState<NewToken | null>(null);
  return (
    <Page
      title={common.account}
      hint={t.accountHint}
      actions={account.data && <RenewToken me={account.data} onToken={setShown} />}
    >
      {shown !== null && <TokenNotice token={shown} onClose={() => setShown(null)} />}
      <QueryView query={account}>{(me) => <Account me={me} />}</QueryView>
    </Page>
  );
}

export default AccountPage;
