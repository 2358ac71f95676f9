import { Anchor, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { useMessages } from '../../../i18n/language';
import { Page } from '../../../shared/page';
import { QueryView } from '../../../shared/query-view';
import { to } from '../../../shared/routes';
import { usePathParams } from '../../../shared/use-path-params';
import { AddMember } from './add-member';
import { DescriptionForm } from './description-form';
import { Embedder } from './embedder';
import { MembersTable } from './members-table';
import { PresetsForm } from './presets-form';
import { configQuery, membersQuery } from './queries';
import { Workspaces } from './workspaces';

function Section({ title, hint, children }: { title: string; hint: string; children: ReactNode }) {
  return (
    <Stack component="section" aria-label={title} gap="xs">
      <div>
        <Title order={2} size="h4">
          {title}
        </Title>
        <Text size="sm" c="dimmed">
          {hint}
        </Text>
      </div>
      {children}
    </Stack>
  );
}

/** What an owner decides about a partition. */
function SettingsPage() {
  const { partition = '' } = usePathParams<{ partition: string }>();
  const { documents: t, common } = useMessages();
  const config = useQuery(configQuery(partition));
  const members = useQuery(membersQuery(partition));
  return (
    <Page
      title={`${partition}${common.colon}${t.settings}`}
      hint={
        <Anchor component={Link} href={to.partition(partition)} size="sm">
          ← {t.backToFiles} {partition}
        </Anchor>
      }
    >
      <QueryView query={config}>
        {({ description, embedder, indexation_preset: indexation, retrieval_preset: retrieval }) => (
          <>
            <DescriptionForm key={partition} {...{ partition, description }} />
            <Section title={t.presets} hint={t.presetsHint}>
              <PresetsForm {...{ partition, indexation, retrieval }} />
            </Section>
            <Section title={t.embedder} hint={t.embedderHint}>
              <Embedder key={partition} partition={partition} embedder={embedder} />
            </Section>
          </>
        )}
      </QueryView>
      <Section title={t.members} hint={t.membersHint}>
        <AddMember partition={partition} />
        <QueryView query={members}>
          {(list) => <MembersTable partition={partition} members={list} />}
        </QueryView>
      </Section>
      <Section title={t.workspaces} hint={t.workspacesHint}>
        <Workspaces partition={partition} />
      </Section>
    </Page>
  );
}

export default SettingsPage;
