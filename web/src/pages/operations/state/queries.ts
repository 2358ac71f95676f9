import { queryOptions } from '@tanstack/react-query';
import { errorOf } from '../../../api/api-error';
import { api, bodyOf, send } from '../../../api/client';
import type { paths } from '../../../api/schema.gen';
import { readMetrics } from './read-metrics';

export type Ready = paths['/ready']['get']['responses'][200]['content']['application/json'];
export type Verdict = Ready['checks'][string];

/** 503 is an answer here: it says what does not work. */
async function readReady(): Promise<Ready> {
  const response = await fetch('/ready');
  const text = await response.text();
  if (response.ok || response.status === 503) {
    const body = JSON.parse(text) as Ready;
    if (typeof body.checks === 'object') return body;
  }
  throw errorOf(response.status, text, response.headers);
}

export const readyQuery = queryOptions({
  queryKey: ['operations', 'ready'],
  queryFn: readReady,
  refetchInterval: 10_000,
});

export const metricsQuery = queryOptions({
  queryKey: ['operations', 'metrics'],
  queryFn: async () => readMetrics(await (await send('/monitoring/metrics')).text()),
  refetchInterval: 10_000,
});

async function readMigrations() {
  return (await bodyOf(api.GET('/admin/migrations'))).migrations;
}

async function readSchedules() {
  return (await bodyOf(api.GET('/admin/schedules'))).schedules;
}

export type Migration = Awaited<ReturnType<typeof readMigrations>>[number];
export type Schedule = Awaited<ReturnType<typeof readSchedules>>[number];

export const migrationsQuery = queryOptions({
  queryKey: ['operations', 'migrations'],
  queryFn: readMigrations,
  refetchInterval: ({ state: { data } }) => {
    const states = data?.map(({ latest }) => latest[0]?.state) ?? [];
    if (states.includes('running')) return 1_000;
    // one that is told to go on does so with its next slice
    return states.includes('paused') ? 3_000 : 10_000;
  },
});

export const swapsQuery = queryOptions({
  queryKey: ['operations', 'swaps'],
  queryFn: async () => (await bodyOf(api.GET('/admin/embedder-swaps'))).swaps,
  refetchInterval: ({ state: { data } }) =>
    data?.some(({ status }) => status === 'running') ? 3_000 : 30_000,
});

export const schedulesQuery = queryOptions({
  queryKey: ['operations', 'schedules'],
  queryFn: readSchedules,
  refetchInterval: 30_000,
});
