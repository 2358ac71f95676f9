import { Table, Text } from '@mantine/core';
import { useMessages } from '../../../i18n/language';
import { ScrollTable } from '../../../shared/scroll-table';
import { decisionsOf } from './read-raw';

export function DecisionTable({ rawJson }: { rawJson: string | null }) {
  const { signals: t } = useMessages();
  const decisions = decisionsOf(rawJson);
  if (decisions.length === 0) return <Text size="sm">{t.noDecisions}</Text>;
  return (
    <ScrollTable label={t.decisions} minWidth={360}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{t.decision}</Table.Th>
          <Table.Th>{t.address}</Table.Th>
          <Table.Th>{t.duration}</Table.Th>
          <Table.Th>{t.origin}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {decisions.map(({ type, value, duration, origin }, index) => (
          <Table.Tr key={index}>
            <Table.Td>{type}</Table.Td>
            <Table.Td>{value}</Table.Td>
            <Table.Td>{duration}</Table.Td>
            <Table.Td>{origin}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </ScrollTable>
  );
}
