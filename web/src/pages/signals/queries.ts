import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { api, bodyOf } from '../../api/client';
import type { components, paths } from '../../api/schema.gen';

export type Alert = components['schemas']['Alert'];
export type AlertFilters = NonNullable<paths['/api/alerts']['get']['parameters']['query']>;
export type Period = '7d' | '30d' | 'all';
export type Rule = Awaited<ReturnType<typeof readRules>>['rules'][number];
export type Forwarding = Awaited<ReturnType<typeof readForwarding>>;
export type Watcher = Forwarding['watchers'][number];

const REFRESH_MS = 10_000;

function readRules() {
  return bodyOf(api.GET('/api/filters'));
}

function readForwarding() {
  return bodyOf(api.GET('/api/forwarding'));
}

export const statsQuery = queryOptions({
  queryKey: ['signals', 'stats'],
  queryFn: () => bodyOf(api.GET('/api/stats')),
  refetchInterval: REFRESH_MS,
});

export function distributionQuery(period: Period) {
  return queryOptions({
    queryKey: ['signals', 'distribution', period],
    queryFn: () => bodyOf(api.GET('/api/stats/distribution', { params: { query: { period } } })),
    refetchInterval: 3 * REFRESH_MS,
  });
}

export const forwardingQuery = queryOptions({
  queryKey: ['signals', 'forwarding'],
  queryFn: readForwarding,
  refetchInterval: REFRESH_MS / 2,
});

export const rulesQuery = queryOptions({
  queryKey: ['signals', 'rules'],
  queryFn: readRules,
  refetchInterval: REFRESH_MS,
});

export const savedRulesQuery = queryOptions({
  queryKey: ['signals', 'rules', 'saved'],
  queryFn: () => bodyOf(api.GET('/api/filters/saved')),
});

export const ruleVersionsQuery = queryOptions({
  queryKey: ['signals', 'rules', 'versions'],
  queryFn: async () => (await bodyOf(api.GET('/api/filters/saved/versions'))).versions,
});

const QUARANTINE_PAGE = 100;

/** Page by page. The rows of one that is decided move up, so that all pages are read again then. */
export const quarantineQuery = infiniteQueryOptions({
  queryKey: ['signals', 'quarantine'],
  initialPageParam: 0,
  queryFn: ({ pageParam: offset }) =>
    bodyOf(api.GET('/api/quarantine', { params: { query: { limit: QUARANTINE_PAGE, offset } } })),
  getNextPageParam: (last, pages) =>
    last.length === QUARANTINE_PAGE ? pages.length * QUARANTINE_PAGE : undefined,
  select: ({ pages }) => [...new Map(pages.flat().map((signal) => [signal.id, signal])).values()],
  refetchInterval: REFRESH_MS,
});

export function readAlerts(query: AlertFilters) {
  return bodyOf(api.GET('/api/alerts', { params: { query } }));
}

export function alertQuery(id: number) {
  return queryOptions({
    queryKey: ['signals', 'alert', id],
    queryFn: () => bodyOf(api.GET('/api/alerts/{id}', { params: { path: { id } } })),
  });
}
