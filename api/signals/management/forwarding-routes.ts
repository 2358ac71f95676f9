import type { MetricsQueue, QueueSummary } from '../../../activities/ports/signals.js';
import { ForwardingBody } from '../../../schemas/signals/proxy-api.js';
import type { ForwardingWatcher } from '../../../schemas/signals/proxy-api.js';
import type { WatcherRecord } from '../../../schemas/signals/signals.js';
import { json, route } from '../../http/route.js';
import type { Route } from '../../http/route.js';
import type { ProxyDeps } from '../proxy-deps.js';
import { reportFailure } from './report-failure.js';

/** What waits for CAPI, and why. */
export const forwardingRoutes = ({
  alerts,
  watchers,
  logins,
  metrics,
  rules,
  settings,
  now,
}: ProxyDeps): Route[] => [
  route({
    method: 'get',
    path: '/api/forwarding',
    summary: 'How the signals of each watcher fare, and the rules in force',
    tag: 'Proxy management',
    auth: { key: 'dashboard' },
    responses: { 200: { description: 'Queues and rules', schema: ForwardingBody } },
    errors: ['UNEXPECTED_ERROR'],
    async handle() {
      const [queues, records, overview, held] = await reportFailure('Failed to get forwarding state', () =>
        Promise.all([
          alerts.summaries(),
          watchers.list(),
          logins.overview(now(), settings.loginWindowMs),
          metrics.queues(),
        ]),
      );
      const { rules: all, mode, faults } = rules.current();
      const names = all.filter((rule) => rule.enabled).map(({ name }) => name);
      return json(200, {
        enabled: settings.forwardEnabled,
        watchers: presentWatchers(queues, records, held),
        logins: {
          budget: settings.loginBudget,
          windowMinutes: settings.loginWindowMs / 60_000,
          used: overview.used,
          blocks: overview.blocks.map(({ machineId, status, message, at, until }) => ({
            ...{ watcher: machineId, status, message },
            ...{ at: at.toISOString(), until: until.toISOString() },
          })),
        },
        rules: { mode, names, faults: faults.map(({ file, message }) => ({ file, message })) },
      });
    },
  }),
];

/** One row per watcher that has a queue or a record, by name. */
const presentWatchers = (
  queues: readonly QueueSummary[],
  records: readonly WatcherRecord[],
  held: readonly MetricsQueue[],
): ForwardingWatcher[] => {
  const queueOf = new Map(queues.map((queue) => [queue.watcher, queue]));
  const heldOf = new Map(held.map((queue) => [queue.watcher, queue]));
  const recordOf = new Map(records.map((record) => [record.watcher, record]));
  // eslint-disable-next-line complexity -- defaults of what a watcher has no record of
  return [...new Set([...queueOf.keys(), ...recordOf.keys(), ...heldOf.keys()])].sort().map((watcher) => {
    const queue = queueOf.get(watcher);
    const record = recordOf.get(watcher);
    const { lastError = null } = record ?? {};
    return {
      watcher,
      waiting: queue?.waiting ?? 0,
      oldest: iso(queue?.oldestReceivedAt),
      quarantined: queue?.quarantined ?? 0,
      lastQuarantined: queue?.lastQuarantined ?? null,
      lastSuccess: iso(record?.lastSuccessAt),
      lastError: lastError === null ? null : { ...lastError, at: lastError.at.toISOString() },
      nextAttempt: iso(record?.nextAttemptAt),
      hasToken: record?.hasToken ?? false,
      tokenExpiresAt: iso(record?.tokenExpiresAt),
      loginWanted: record?.loginWanted ?? false,
      pausedSince: iso(record?.pausedAt),
      metricsHeld: heldOf.get(watcher)?.held ?? 0,
      metricsRefused: heldOf.get(watcher)?.refused ?? 0,
    };
  });
};

const iso = (date: Date | null | undefined): string | null => date?.toISOString() ?? null;
