import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { api, bodyOf } from '../../../api/client';
import { useFormat } from '../../../i18n/format';
import { useMessages } from '../../../i18n/language';
import { Empty } from '../../../shared/empty';
import { Page } from '../../../shared/page';
import { QueryView } from '../../../shared/query-view';
import { useAddressState } from '../../../shared/use-address-state';
import { partitionsQuery } from '../queries';
import { FilterFault, isFilterFault } from './filter-fault';
import { SearchForm } from './search-form';
import type { Asked } from './search-form';
import { SearchResults } from './search-results';

function readAddress(query: URLSearchParams): Asked {
  return {
    text: query.get('q') ?? '',
    partitions: query.getAll('in'),
    filter: query.get('filter') ?? '',
    count: Number(query.get('n')) || 10,
    trace: query.get('trace') === '1',
  };
}

function writeAddress({ text, partitions, filter, count, trace }: Asked): URLSearchParams {
  return new URLSearchParams([
    ...(text === '' ? [] : [['q', text]]),
    ...partitions.map((partition) => ['in', partition]),
    ...(filter === '' ? [] : [['filter', filter]]),
    ...(count === 10 ? [] : [['n', String(count)]]),
    ...(trace ? [['trace', '1']] : []),
  ]);
}

const ADDRESS = { read: readAddress, write: writeAddress, pauseMs: 350 };

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
  const [asked, setAsked, settled] = useAddressState(ADDRESS);
  const partitions = useQuery(partitionsQuery);
  const nothingToSearch = partitions.data?.length === 0;
  const found = useQuery({
    queryKey: ['search', settled],
    enabled: settled.text.trim() !== '' && !nothingToSearch,
    queryFn: ({ signal }) => search(settled, signal),
    placeholderData: keepPreviousData,
  });
  const fault = isFilterFault(found.error) ? found.error : null;
  const isAsked = !nothingToSearch && settled.text.trim() !== '';
  const documents = isAsked && fault === null ? found.data?.documents : undefined;
  return (
    <Page title={t.search} hint={t.searchHint}>
      <SearchForm asked={asked} onChange={setAsked} busy={found.isFetching} />
      {/* It stays while what it says changes: a region that comes with its text is not read out. */}
      <div aria-live="polite">
        {documents?.length === 0 && <Empty title={t.nothingFound}>{t.nothingFoundHint}</Empty>}
        {documents !== undefined && documents.length > 0 && t.found(format.number(documents.length))}
      </div>
      {nothingToSearch ? (
        <Empty title={texts.noPartitions}>{texts.noPartitionsHint}</Empty>
      ) : !isAsked ? (
        <Empty title={t.searchStart}>{t.searchStartHint}</Empty>
      ) : fault !== null ? (
        <FilterFault filter={settled.filter} fault={fault} />
      ) : (
        <QueryView query={found}>
          {({ documents: passages, retrieval_trace: trace }) =>
            passages.length > 0 && (
              <SearchResults documents={passages} question={settled.text} trace={trace} />
            )
          }
        </QueryView>
      )}
    </Page>
  );
}

export default SearchPage;
