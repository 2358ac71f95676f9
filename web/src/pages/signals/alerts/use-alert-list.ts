import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useCallback, useMemo, useState } from 'react';
import { readAlerts } from '../queries';
import type { Alert, AlertFilters } from '../queries';

const PAGE = 200;
const LOOK_EVERY_MS = 5_000;
/** More new ones than that are counted as so many. */
const COUNT_UP_TO = 100;

/**
 * The list as it was when it was opened, page by page, and how many alerts came in since: the rows do not move under
 * the reader's eyes.
 */
export function useAlertList(query: AlertFilters) {
  const [opened, setOpened] = useState(() => new Date().toISOString());
  const list = useInfiniteQuery({
    queryKey: ['signals', 'alerts', query, opened],
    initialPageParam: 0,
    queryFn: ({ pageParam: offset }) => readAlerts({ until: opened, ...query, limit: PAGE, offset }),
    getNextPageParam: (last, pages) => (last.length < PAGE ? undefined : pages.length * PAGE),
    placeholderData: keepPreviousData,
    staleTime: Infinity,
  });
  const alerts = useMemo(() => {
    const byId = new Map<number, Alert>();
    for (const alert of list.data?.pages.flat() ?? []) byId.set(alert.id, alert);
    return [...byId.values()];
  }, [list.data]);
  const newest = alerts[0]?.id ?? 0;
  const arrived = useQuery({
    queryKey: ['signals', 'arrived', query, opened],
    enabled: list.data !== undefined && query.until === undefined,
    queryFn: () => readAlerts({ ...query, since: opened, limit: COUNT_UP_TO }),
    refetchInterval: LOOK_EVERY_MS,
  });
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = list;
  return {
    list,
    alerts,
    arrived: arrived.data?.filter(({ id }) => id > newest).length ?? 0,
    countsUpTo: COUNT_UP_TO,
    showNew: () => setOpened(new Date().toISOString()),
    more: useCallback(() => {
      if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
    }, [hasNextPage, isFetchingNextPage, fetchNextPage]),
  };
}
