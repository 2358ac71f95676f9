import { Table } from '@mantine/core';
import { useFormat } from '../../../i18n/format';
import { useMessages } from '../../../i18n/language';
import { ScrollTable } from '../../../shared/scroll-table';
import { MEASURES } from '../queries';
import type { Run } from '../queries';

export function MeasuresTable({ summary }: { summary: NonNullable<Run['summary']> }) {
  const { evaluation: t } = useMessages();
  const format = useFormat();
  const { search, chat } = summary;
  return (
    <ScrollTable label={t.measuresTitle} minWidth={520}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{t.measure}</Table.Th>
          <Table.Th>{t.mean}</Table.Th>
          <Table.Th>{t.interval}</Table.Th>
          <Table.Th>{t.questions}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {MEASURES.map((measure) => {
          const figure = summary.measures[measure];
          if (figure === undefined) return null;
          return (
            <Table.Tr key={measure}>
              <Table.Th scope="row" fw={500}>
                {t.measures[measure]}
              </Table.Th>
              <Table.Td>{format.score(figure.mean)}</Table.Td>
              <Table.Td>{t.range(format.score(figure.low), format.score(figure.high))}</Table.Td>
              <Table.Td>{format.number(figure.count)}</Table.Td>
            </Table.Tr>
          );
        })}
        {(
          [
            ['search', search],
            ['chat', chat],
          ] as const
        ).map(
          ([what, latency]) =>
            latency !== null && (
              <Table.Tr key={what}>
                <Table.Th scope="row" fw={500}>
                  {t.latency[what]}
                </Table.Th>
                <Table.Td>{format.seconds(latency.p50)}</Table.Td>
                <Table.Td>{t.slowest(format.seconds(latency.p95))}</Table.Td>
                <Table.Td />
              </Table.Tr>
            ),
        )}
      </Table.Tbody>
    </ScrollTable>
  );
}
