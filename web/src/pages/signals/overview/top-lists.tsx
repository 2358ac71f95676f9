import { Anchor, Paper, Progress, Table, Title } from '@mantine/core';
import { Link } from 'wouter';
import { useFormat } from '../../../i18n/format';
import { useMessages } from '../../../i18n/language';
import { to, withQuery } from '../../../shared/routes';

type Props =
  | { kind: 'scenario'; rows: readonly { scenario: string; count: number }[] }
  | { kind: 'country'; rows: readonly { country: string; count: number }[] };

/** The most frequent values; each leads to its alerts. */
export function TopList(props: Props) {
  const { signals: t } = useMessages();
  const format = useFormat();
  const rows =
    props.kind === 'scenario'
      ? props.rows.map(({ scenario, count }) => ({ value: scenario, label: scenario, count }))
      : props.rows.map(({ country, count }) => ({ value: country, label: format.country(country), count }));
  const most = Math.max(1, ...rows.map(({ count }) => count));
  const title = props.kind === 'scenario' ? t.topScenarios : t.topCountries;
  return (
    <Paper withBorder p="md">
      <Title order={2} size="h5" mb="xs">
        {title}
      </Title>
      <Table aria-label={title} layout="fixed" verticalSpacing={6}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{props.kind === 'scenario' ? t.scenario : t.country}</Table.Th>
            <Table.Th w={90} ta="right">
              {t.count}
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.slice(0, 10).map(({ value, label, count }) => (
            <Table.Tr key={value}>
              <Table.Td>
                <Anchor
                  component={Link}
                  href={withQuery(to.alerts, { [props.kind]: value })}
                  size="sm"
                  style={{ overflowWrap: 'anywhere' }}
                >
                  {label}
                </Anchor>
                <Progress value={(100 * count) / most} size={4} mt={4} aria-hidden />
              </Table.Td>
              <Table.Td ta="right">{format.number(count)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Paper>
  );
}
