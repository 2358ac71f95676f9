import { Stack } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { useSearchParams } from 'wouter';
import { api, bodyOf } from '../../../api/client';
import { useFormat } from '../../../i18n/format';
import { useMessages } from '../../../i18n/language';
import { Empty } from '../../../shared/empty';
import { Page } from '../../../shared/page';
import { QueryView } from '../../../shared/query-view';
import { partitionsQuery } from '../queries';
import { FilterFault, isFilterFault } from './filter-fault';
import { SearchForm } from './search-form';
import type { Asked } from './search-form';
import { SearchResults } from './search-results';

const PAUSE_MS = 350;

function readAddress(query: URLSearchParams): Asked {
  return {
    text: query.get('q') ?? '',
    partitions: query.getAll('in'),
    filter: query.get('filter') ?? '',
    count: Number(query.get('n')) || 10,
    trace: query.get('trace') === '1',
  };
}

function writeAddress({ text, partitions, filter, count, trace }: Asked): [string, string][] {
  return [
    ...(text === '' ? [] : [['q', text] as [string, string]]),
    ...partitions.map((partition): [string, string] => ['in', partition]),
    ...(filter === '' ? [] : [['filter', filter] as [string, string]]),
    ...(count === 10 ? [] : [['n', String(count)] as [string, string]]),
    ...(trace ? [['trace', '1'] as [string, string]] : []),
  ];
}

function search({ text, partitions, filter, count, trace }: Asked, signal: AbortSignal) {
  return bodyOf(
    api.GET('/search/', {
      params: {
        query: {
          text,
          top_k: count,
          ...(partitions.length === 0 ? {} : { partitions }),
          ...(filter.trim() === '' ? {} : { filter }),
          ...(trace ? { include_retrieval_trace: 'true' } : {}),
        },
      },
      signal,
    }),
  );
}

/** Searches while one types; the address holds what is asked, so that it can be shared. */
function SearchPage() {
  const { ask: t, documents: texts } = useMessages();
  const format = useFormat();
  const [query, setQuery] = useSearchParams();
  const [asked, setAsked] = useState(() => readAddress(query));
  const [settled] = useDebouncedValue(asked, PAUSE_MS);
  useEffect(() => {
    setQuery(new URLSearchParams(writeAddress(settled)), { replace: true });
  }, [settled, setQuery]);
  const partitions = useQuery(partitionsQuery);
  const nothingToSearch = partitions.data?.length === 0;
  const found = useQuery({
    queryKey: ['search', settled],
    enabled: settled.text.trim() !== '' && !nothingToSearch,
    queryFn: ({ signal }) => search(settled, signal),
    placeholderData: keepPreviousData,
  });
  const fault = isFilterFault(found.error) ? found.error : null;
  return (
    <Page title={t.search} hint={t.searchHint}>
      <SearchForm asked={asked} onChange={setAsked} busy={found.isFetching} />
      {nothingToSearch ? (
        <Empty title={texts.noPartitions}>{texts.noPartitionsHint}</Empty>
      ) : settled.text.trim() === '' ? (
        <Empty title={t.searchStart}>{t.searchStartHint}</Empty>
      ) : fault !== null ? (
        <FilterFault filter={settled.filter} fault={fault} />
      ) : (
        <QueryView query={found}>
          {({ documents, retrieval_trace: trace }) =>
            documents.length === 0 ? (
              <Empty title={t.nothingFound}>{t.nothingFoundHint}</Empty>
            ) : (
              <Stack>
                <div aria-live="polite">{t.found(format.number(documents.length))}</div>
                <SearchResults documents={documents} question={settled.text} trace={trace} />
              </Stack>
            )
          }
        </QueryView>
      )}
    </Page>
  );
}

export default SearchPage;
