import { z } from 'zod';
import { isIP } from 'node:net';
import { AppError } from '../../../schemas/app-error.js';
import type { ErrorCode } from '../../../schemas/error-table.js';
import {
  Alert,
  AlertFilters,
  AlertParams,
  LapiServer,
  LivenessBody,
} from '../../../schemas/signals/proxy-api.js';
import { json, route } from '../../http/route.js';
import type { Route } from '../../http/route.js';
import type { ProxyDeps } from '../proxy-deps.js';
import { reportFailure } from './report-failure.js';
import type { AlertQuery } from '../../../activities/ports/signals.js';
import type { Alert as AlertRecord } from '../../../schemas/signals/signals.js';

/** A page of a thousand signals may be a gigabyte: beyond this `rawJson` is null, and is asked for by id. */
const RAW_BYTES_OF_A_LIST = 16 * 1024 * 1024;

const FAILURES = ['UNEXPECTED_ERROR'] as const satisfies ErrorCode[];

/** What dashboards read: the stored alerts and the servers behind us. */
export function alertRoutes({ alerts, settings, unauthenticated, now }: ProxyDeps): Route[] {
  return [
    route({
      method: 'get',
      path: '/health',
      summary: 'Whether the process answers, for the proxy',
      tag: 'Proxy management',
      auth: 'public',
      responses: { 200: { description: 'It does', schema: LivenessBody } },
      errors: ['RATE_LIMITED'],
      async handle({ koa }) {
        await unauthenticated.count(koa);
        return json(200, { status: 'ok', timestamp: now().toISOString() });
      },
    }),
    route({
      method: 'get',
      path: '/api/alerts',
      summary: 'Stored alerts, newest first',
      tag: 'Proxy management',
      auth: { key: 'dashboard' },
      request: { query: AlertFilters },
      responses: { 200: { description: 'Alerts', schema: z.array(Alert) } },
      errors: ['BAD_REQUEST', ...FAILURES],
      async handle(_ctx, { query }) {
        const asked = alertQuery(query, now());
        const found = await reportFailure('Failed to query alerts', () =>
          alerts.list({ ...asked, rawBytes: RAW_BYTES_OF_A_LIST }),
        );
        return json(200, found.map(presentAlert));
      },
    }),
    route({
      method: 'get',
      path: '/api/alerts/{id}',
      summary: 'One alert',
      tag: 'Proxy management',
      auth: { key: 'dashboard' },
      request: { params: AlertParams },
      responses: { 200: { description: 'The alert', schema: Alert } },
      errors: ['BAD_REQUEST', 'NOT_FOUND', ...FAILURES],
      async handle(_ctx, { params }) {
        const alert = await reportFailure('Failed to get alert', () => alerts.get(params.id));
        if (alert === null) throw new AppError('NOT_FOUND', 'Alert not found');
        return json(200, presentAlert(alert));
      },
    }),
    route({
      method: 'get',
      path: '/api/lapi-servers',
      summary: 'The configured local API servers; their keys are never answered',
      tag: 'Proxy management',
      auth: { key: 'dashboard' },
      responses: { 200: { description: 'Servers', schema: z.array(LapiServer) } },
      errors: FAILURES,
      handle: () =>
        json(
          200,
          // Field by field: the entries come from a file that holds keys as well.
          settings.lapiServers.map(({ name, url, canBan }) => ({ name, url, canBan })),
        ),
    }),
  ];
}

const MIN_DATE = Date.UTC(2020, 0);

const AHEAD_MS = 24 * 3_600_000;

const DATES = [
  ['since', 'Since'],
  ['until', 'Until'],
  ['newerThan', 'newerThan'],
] as const;

/**
 * The filters of a request as the store takes them, after the checks that look at more than their form.
 * @throws AppError BAD_REQUEST for an `ip` that is no address, and for dates before 2020 or over a day ahead
 */
function alertQuery(filters: AlertFilters, now: Date): AlertQuery {
  if (filters.ip !== undefined && isIP(filters.ip) === 0)
    throw new AppError('BAD_REQUEST', 'Invalid IP address format');
  for (const [name, shown] of DATES) {
    const time = filters[name]?.getTime();
    if (time !== undefined && (time < MIN_DATE || time > now.getTime() + AHEAD_MS))
      throw new AppError('BAD_REQUEST', `${shown} date out of acceptable range`);
  }
  const given = Object.entries(filters).filter(([, value]) => value !== undefined);
  // Beyond this no number is exact, and no store holds so many.
  const offset = Math.min(filters.offset, Number.MAX_SAFE_INTEGER);
  return { ...Object.fromEntries(given), limit: filters.limit, offset };
}

const FIELDS = Object.keys(Alert.shape) as (keyof AlertRecord)[];

/** The agreed 41 fields, always all of them and nothing else. */
function presentAlert(alert: AlertRecord): Record<string, unknown> {
  return Object.fromEntries(FIELDS.map((name) => [name, alert[name] ?? null]));
}
