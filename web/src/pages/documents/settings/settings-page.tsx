import { Anchor, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from 'wouter';
import { useMessages } from '../../../i18n/language';
import { Page } from '../../../shared/page';
import { QueryView } from '../../../shared/query-view';
import { to } from '../../../shared/routes';
import { AddMember } from './add-member';
import { DescriptionForm } from './description-form';
import { MembersTable } from './members-table';
import { configQuery, membersQuery } from './queries';

/** What an owner decides about a partition. */
function SettingsPage() {
  const { partition = '' } = useParams<{ partition: string }>();
  const { documents: t } = useMessages();
  const config = useQuery(configQuery(partition));
  const members = useQuery(membersQuery(partition));
  return (
    <Page
      title={`${partition}: ${t.settings}`}
      hint={
        <Anchor component={Link} href={to.partition(partition)} size="sm">
          ← {t.backToFiles} {partition}
        </Anchor>
      }
    >
      <QueryView query={config}>
        {({ description }) => <DescriptionForm partition={partition} description={description} />}
      </QueryView>
      <div>
        <Title order={2} size="h4">
          {t.members}
        </Title>
        {t.membersHint}
      </div>
      <AddMember partition={partition} />
      <QueryView query={members}>{(list) => <MembersTable partition={partition} members={list} />}</QueryView>
    </Page>
  );
}

export default SettingsPage;
