import { Anchor } from '@mantine/core';
import { useFormat } from '../../../i18n/format';
import { useMessages } from '../../../i18n/language';
import { VirtualTable } from '../../../shared/virtual-table';
import type { Column } from '../../../shared/virtual-table';
import type { Result } from '../queries';

interface Props {
  results: readonly Result[];
  onOpen: (result: Result) => void;
}

export function ResultsTable({ results, onOpen }: Props) {
  const { evaluation: t } = useMessages();
  const format = useFormat();
  const score = (value: number | undefined) => (value === undefined ? '' : format.score(value));
  const columns: Column<Result>[] = [
    {
      key: 'question',
      header: t.question,
      width: 'minmax(240px, 3fr)',
      cell: (result) => (
        <Anchor component="button" size="sm" title={result.question} onClick={() => onOpen(result)}>
          {result.question}
        </Anchor>
      ),
    },
    {
      key: 'ndcg',
      header: t.measures.ndcg_10,
      width: '110px',
      cell: ({ measures }) => score(measures.ndcg_10),
    },
    { key: 'mrr', header: t.measures.mrr, width: '90px', cell: ({ measures }) => score(measures.mrr) },
    {
      key: 'found',
      header: t.found,
      width: 'minmax(160px, 2fr)',
      cell: ({ found, error }) => error?.message ?? found.slice(0, 3).join(', '),
    },
    {
      key: 'answer',
      header: t.answer,
      width: 'minmax(160px, 2fr)',
      cell: ({ chat }) => chat?.answer ?? '',
    },
  ];
  return (
    <VirtualTable
      {...{ label: t.results, rows: results, columns, minWidth: 900 }}
      rowKey={({ index }) => index}
    />
  );
}
