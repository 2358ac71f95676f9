import { Badge, Table } from '@mantine/core';
import type { components } from '../../../api/schema.gen';
import { useFormat } from '../../../i18n/format';
import { useMessages } from '../../../i18n/language';
import { ScrollTable } from '../../../shared/scroll-table';
import { MEASURES } from '../queries';

type Measures = components['schemas']['EvaluationComparison']['measures'];

/** What is better and what worse, and whether chance alone would explain it. */
export function DifferencesTable({ measures }: { measures: Measures }) {
  const { evaluation: t } = useMessages();
  const format = useFormat();
  return (
    <ScrollTable label={t.measuresTitle} minWidth={780}>
      <Table.Thead>
        <Table.Tr>
          {[t.measure, t.before, t.after, t.change, t.interval, t.betterWorse].map((header) => (
            <Table.Th key={header}>{header}</Table.Th>
          ))}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {MEASURES.map((measure) => {
          const row = measures[measure];
          if (row === undefined) return null;
          const { before, after, difference, better, worse, same } = row;
          const beyond = difference.low > 0 || difference.high < 0;
          return (
            <Table.Tr key={measure}>
              <Table.Th scope="row" fw={500}>
                {t.measures[measure]}
              </Table.Th>
              <Table.Td>{format.score(before)}</Table.Td>
              <Table.Td>{format.score(after)}</Table.Td>
              <Table.Td>
                {format.gain(difference.mean)}{' '}
                {beyond && (
                  <Badge variant="outline" color="gray">
                    {t.beyondChance}
                  </Badge>
                )}
              </Table.Td>
              <Table.Td>{t.range(format.gain(difference.low), format.gain(difference.high))}</Table.Td>
              <Table.Td>{[better, worse, same].map((count) => format.number(count)).join(' / ')}</Table.Td>
            </Table.Tr>
          );
        })}
      </Table.Tbody>
    </ScrollTable>
  );
}
