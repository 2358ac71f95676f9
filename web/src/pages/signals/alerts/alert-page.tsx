import { Anchor, Code, Group, List, Paper, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { useMessages } from '../../../i18n/language';
import { CopyText } from '../../../shared/copy-text';
import { Page } from '../../../shared/page';
import { QueryView } from '../../../shared/query-view';
import { to, withQuery } from '../../../shared/routes';
import { usePathParams } from '../../../shared/use-path-params';
import { alertQuery } from '../queries';
import type { Alert } from '../queries';
import { AlertFacts } from './alert-facts';
import { AlertState } from './alert-state';
import { DecisionTable } from './decision-table';
import { isAddress, isAddressOrRange } from './ip-address';
import { IpInfo } from './ip-info';
import { prettyJson, reasonsOf } from './read-raw';

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Paper withBorder p="md" component="section" aria-label={title} style={{ minWidth: 0 }}>
      <Title order={2} size="h5" mb="xs">
        {title}
      </Title>
      {children}
    </Paper>
  );
}

function Details({ alert }: { alert: Alert }) {
  const { signals: t } = useMessages();
  const reasons = reasonsOf(alert.filterReasons);
  // A source may be something else, as a user's name or a country.
  const source = alert.sourceIp || alert.sourceValue || '';
  return (
    <Stack>
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <Section title={t.source}>
          <AlertFacts alert={alert} />
          {isAddress(source) && (
            <Anchor component={Link} href={withQuery(to.alerts, { ip: source })} size="sm">
              {t.otherAlerts}
            </Anchor>
          )}
        </Section>
        <Stack>
          <Section title={alert.filtered === true ? t.reasons : t.matchedReasons}>
            {reasons.length === 0 ? (
              <Text size="sm">{t.noReasons}</Text>
            ) : (
              <List size="sm">
                {reasons.map((reason, index) => (
                  <List.Item key={index} style={{ overflowWrap: 'anywhere' }}>
                    {reason}
                  </List.Item>
                ))}
              </List>
            )}
          </Section>
          <Section title={t.decisions}>
            <DecisionTable rawJson={alert.rawJson} />
          </Section>
          {isAddressOrRange(source) && (
            <Section title={t.ipInfo}>
              <IpInfo address={source} />
            </Section>
          )}
        </Stack>
      </SimpleGrid>
      {alert.rawJson !== null && (
        <Section title={t.raw}>
          <Code block mah={480} tabIndex={0}>
            {prettyJson(alert.rawJson)}
          </Code>
          <CopyText text={alert.rawJson} size="xs" mt="xs" />
        </Section>
      )}
    </Stack>
  );
}

function AlertPage() {
  const { id = '' } = usePathParams<{ id: string }>();
  const { signals: t } = useMessages();
  const alert = useQuery(alertQuery(Number(id)));
  return (
    <Page
      title={alert.data?.scenario || t.alert(Number(id))}
      hint={
        <Group gap="sm">
          <Anchor component={Link} href={to.alerts} size="sm">
            ← {t.backToAlerts}
          </Anchor>
          {t.alert(Number(id))}
        </Group>
      }
      actions={alert.data && <AlertState alert={alert.data} />}
    >
      <QueryView query={alert}>{(data) => <Details alert={data} />}</QueryView>
    </Page>
  );
}

export default AlertPage;
