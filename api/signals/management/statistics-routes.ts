import {
  DecisionStatsBody,
  DistributionBody,
  PeriodQuery,
  StatsBody,
} from '../../../schemas/signals/statistics-api.js';
import { json, route } from '../../http/route.js';
import type { Route } from '../../http/route.js';
import type { ProxyDeps } from '../proxy-deps.js';
import { reportFailure } from './report-failure.js';
import { beginOf, decisionStatsOf, distributionOf, statsOf } from './present-statistics.js';

/** The numbers of dashboards. They come from hourly aggregates: how many alerts there are does not matter. */
export function statisticsRoutes({ statistics, now }: Pick<ProxyDeps, 'statistics' | 'now'>): Route[] {
  return [
    route({
      method: 'get',
      path: '/api/stats',
      summary: 'Counts over all stored alerts',
      tag: 'Proxy management',
      auth: { key: 'dashboard' },
      responses: { 200: { description: 'Counts', schema: StatsBody } },
      errors: ['UNEXPECTED_ERROR'],
      handle: async () =>
        json(
          200,
          await reportFailure('Failed to get stats', async () => statsOf(await statistics.read(null))),
        ),
    }),
    route({
      method: 'get',
      path: '/api/stats/distribution',
      summary: 'Alerts by day, hour, country and scenario',
      tag: 'Proxy management',
      auth: { key: 'dashboard' },
      request: { query: PeriodQuery },
      responses: { 200: { description: 'Distribution', schema: DistributionBody } },
      errors: ['BAD_REQUEST', 'UNEXPECTED_ERROR'],
      handle: async (_ctx, { query }) =>
        json(
          200,
          await reportFailure('Failed to get distribution stats', async () =>
            distributionOf(await statistics.read(beginOf(query.period, now()))),
          ),
        ),
    }),
    route({
      method: 'get',
      path: '/api/stats/decisions',
      summary: 'Decisions that came with the alerts, by day, hour, duration, scenario and country',
      tag: 'Proxy management',
      auth: { key: 'dashboard' },
      request: { query: PeriodQuery },
      responses: { 200: { description: 'Decision statistics', schema: DecisionStatsBody } },
      errors: ['BAD_REQUEST', 'UNEXPECTED_ERROR'],
      handle: async (_ctx, { query }) =>
        json(
          200,
          await reportFailure('Failed to get decision stats', async () =>
            decisionStatsOf(await statistics.read(beginOf(query.period, now()))),
          ),
        ),
    }),
  ];
}
