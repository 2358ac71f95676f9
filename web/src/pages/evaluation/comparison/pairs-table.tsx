import { Anchor, Text } from '@mantine/core';
import { useFormat } from '../../../i18n/format';
import { useMessages } from '../../../i18n/language';
import { VirtualTable } from '../../../shared/virtual-table';
import type { Column } from '../../../shared/virtual-table';
import type { Measure, Result } from '../queries';
import type { Pair } from './pair-results';

interface Props {
  pairs: readonly Pair[];
  measure: Measure;
  onOpen: (pair: Pair) => void;
}

export function PairsTable({ pairs, measure, onOpen }: Props) {
  const { evaluation: t } = useMessages();
  const format = useFormat();
  const score = (result: Result | undefined) => {
    const value = result?.measures[measure];
    return value === undefined ? '' : format.score(value);
  };
  const columns: Column<Pair>[] = [
    {
      key: 'question',
      header: t.question,
      width: 'minmax(240px, 3fr)',
      cell: (pair) => (
        <Anchor component="button" size="sm" title={pair.question} onClick={() => onOpen(pair)}>
          {pair.question}
        </Anchor>
      ),
    },
    { key: 'before', header: t.before, width: '90px', cell: ({ before }) => score(before) },
    { key: 'after', header: t.after, width: '90px', cell: ({ after }) => score(after) },
    {
      key: 'change',
      header: t.change,
      width: '110px',
      cell: ({ gain }) =>
        gain !== null && (
          <Text span size="sm" fw={gain === 0 ? 400 : 600} c={gain < 0 ? 'error' : undefined}>
            {format.gain(gain)}
          </Text>
        ),
    },
  ];
  return (
    <VirtualTable {...{ label: t.results, rows: pairs, columns, minWidth: 620 }} rowKey={({ id }) => id} />
  );
}
