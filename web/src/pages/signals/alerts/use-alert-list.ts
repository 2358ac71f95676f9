import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useCallback, useMemo, useState } from 'react';
import { readAlerts } from '../queries';
import type { Alert, AlertFilters } from '../queries';
import { PAGE, pageAfter } from './page-after';
import type { PageStart } from './page-after';

const LOOK_EVERY_MS = 5_000;
/** More new ones than that are counted as so many. */
const COUNT_UP_TO = 100;

const FIRST: PageStart = { offset: 0, until: null };

/**
 * The list as it was when it was opened, page by page, and how many alerts came in since: the rows do not move under
 * the reader's eyes. Times are the server's: the reader's clock may be another.
 */
export function useAlertList(query: AlertFilters) {
  const [opened, setOpened] = useState(0);
  const list = useInfiniteQuery({
    queryKey: ['signals', 'alerts', query, opened],
    initialPageParam: FIRST,
    queryFn: ({ pageParam: { offset, until } }) =>
      readAlerts({ ...query, ...(until === null ? {} : { until }), limit: PAGE, offset }),
    getNextPageParam: (last, _pages, start) => pageAfter(last, start),
    placeholderData: keepPreviousData,
    staleTime: Infinity,
  });
  const alerts = useMemo(() => {
    const byId = new Map<number, Alert>();
    for (const alert of list.data?.pages.flat() ?? []) byId.set(alert.id, alert);
    return [...byId.values()];
  }, [list.data]);
  const [newest] = alerts;
  const arrived = useQuery({
    queryKey: ['signals', 'arrived', query, opened, newest?.id],
    enabled: list.isSuccess && !list.isPlaceholderData && query.until === undefined,
    queryFn: () =>
      readAlerts({ ...query, ...(newest ? { since: newest.receivedAt } : {}), limit: COUNT_UP_TO }),
    refetchInterval: LOOK_EVERY_MS,
  });
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = list;
  return {
    list,
    alerts,
    arrived: arrived.data?.filter(({ id }) => id > (newest?.id ?? 0)).length ?? 0,
    countsUpTo: COUNT_UP_TO,
    showNew: () => setOpened((before) => before + 1),
    more: useCallback(() => {
      if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
    }, [hasNextPage, isFetchingNextPage, fetchNextPage]),
  };
}
