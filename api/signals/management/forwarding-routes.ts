import type { MetricsQueue } from '../../../activities/ports/held-metrics.js';
import type { KeptBackSummary, QueueSummary } from '../../../activities/ports/signals.js';
import { ForwardingBody } from '../../../schemas/signals/proxy-api.js';
import type { ForwardingWatcher } from '../../../schemas/signals/proxy-api.js';
import { NAMELESS } from '../../../schemas/signals/signals.js';
import type { WatcherRecord } from '../../../schemas/signals/signals.js';
import { json, route } from '../../http/route.js';
import type { Route } from '../../http/route.js';
import type { ProxyDeps } from '../proxy-deps.js';
import { reportFailure } from './report-failure.js';

/** What waits for CAPI, and why. */
export function forwardingRoutes({
  alerts,
  statistics,
  watchers,
  logins,
  metrics,
  rules,
  settings,
  now,
}: ProxyDeps): Route[] {
  return [
    route({
      method: 'get',
      path: '/api/forwarding',
      summary: 'How the signals of each watcher fare, and the rules in force',
      tag: 'Proxy management',
      auth: { key: 'dashboard' },
      responses: { 200: { description: 'Queues and rules', schema: ForwardingBody } },
      errors: ['UNEXPECTED_ERROR'],
      async handle() {
        const [queues, keptBack, records, overview, held, hours] = await reportFailure(
          'Failed to get forwarding state',
          () =>
            Promise.all([
              alerts.summaries(),
              alerts.keptBack(),
              watchers.list(),
              logins.overview(now(), settings.loginWindowMs),
              metrics.queues(),
              statistics.read(null),
            ]),
        );
        const { rules: all, mode, faults } = rules.current();
        const names = all.filter((rule) => rule.enabled).map(({ name }) => name);
        return json(200, {
          enabled: settings.forwardEnabled,
          withheld: {
            filtered: sum(hours.map((hour) => hour.filtered)),
            deferred: sum(keptBack.map((kept) => kept.deferred)),
            withheld: sum(keptBack.map((kept) => kept.withheld)),
            discarded: sum(keptBack.map((kept) => kept.discarded)),
            waiting: sum(queues.map((queue) => queue.waiting)),
            quarantined: sum(queues.map((queue) => queue.quarantined)),
          },
          watchers: presentWatchers(queues, keptBack, records, held),
          logins: {
            budget: settings.loginBudget,
            windowMinutes: settings.loginWindowMs / 60_000,
            used: overview.used,
            blocks: overview.blocks.map(({ machineId, status, message, at, until }) => ({
              watcher: machineId,
              status,
              message,
              at: at.toISOString(),
              until: until.toISOString(),
            })),
            refused: overview.refused.map(({ machineId, status, message, at }) => ({
              watcher: machineId,
              status,
              message,
              at: at.toISOString(),
            })),
          },
          rules: { mode, names, faults: faults.map(({ file, message }) => ({ file, message })) },
        });
      },
    }),
  ];
}

/** What is said of a watcher that has no queue, no record or no metrics. */
const NO_QUEUE: Omit<QueueSummary, 'watcher'> = {
  waiting: 0,
  oldestReceivedAt: null,
  quarantined: 0,
  lastQuarantined: null,
};
const NOTHING_KEPT: Omit<KeptBackSummary, 'watcher'> = {
  deferred: 0,
  withheld: 0,
  discarded: 0,
  lastDiscarded: null,
};
const NO_RECORD: Omit<WatcherRecord, 'watcher'> = {
  hasToken: false,
  tokenExpiresAt: null,
  tokenUpdatedAt: null,
  loginWanted: false,
  lastSuccessAt: null,
  lastError: null,
  nextAttemptAt: null,
  pausedAt: null,
};
const NO_METRICS: Omit<MetricsQueue, 'watcher'> = { held: 0, oldest: null, refused: 0 };

/** One row per watcher that has a queue or a record, by name. */
function presentWatchers(
  queues: readonly QueueSummary[],
  keptBack: readonly KeptBackSummary[],
  records: readonly WatcherRecord[],
  metrics: readonly MetricsQueue[],
): ForwardingWatcher[] {
  const [queueOf, keptOf] = [byName(queues), byName(keptBack)];
  const [recordOf, metricsOf] = [byName(records), byName(metrics)];
  const names = new Set([queueOf, keptOf, recordOf, metricsOf].flatMap((of) => [...of.keys()]));
  return [...names].sort().map((watcher) => {
    const queue = queueOf.get(watcher) ?? NO_QUEUE;
    const kept = keptOf.get(watcher) ?? NOTHING_KEPT;
    const record = recordOf.get(watcher) ?? NO_RECORD;
    const held = metricsOf.get(watcher) ?? NO_METRICS;
    const { lastError } = record;
    return {
      watcher,
      waiting: queue.waiting,
      oldest: iso(queue.oldestReceivedAt),
      // A LAPI that is known by its name logs in again some day; to any other a new token gives another digest.
      canBeSent: !watcher.startsWith(NAMELESS) || record.hasToken,
      quarantined: queue.quarantined,
      lastQuarantined: queue.lastQuarantined,
      deferred: kept.deferred,
      withheld: kept.withheld,
      discarded: kept.discarded,
      lastDiscarded: kept.lastDiscarded,
      lastSuccess: iso(record.lastSuccessAt),
      lastError: lastError === null ? null : { ...lastError, at: lastError.at.toISOString() },
      // That of signals alone. It stays in the record of one whose queue was given up meanwhile.
      nextAttempt: queue.waiting === 0 ? null : iso(record.nextAttemptAt),
      hasToken: record.hasToken,
      tokenExpiresAt: iso(record.tokenExpiresAt),
      loginWanted: record.loginWanted,
      pausedSince: iso(record.pausedAt),
      metricsHeld: held.held,
      metricsRefused: held.refused,
    };
  });
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}

function byName<T extends { watcher: string }>(rows: readonly T[]): Map<string, T> {
  return new Map(rows.map((row) => [row.watcher, row]));
}

function iso(date: Date | null): string | null {
  return date?.toISOString() ?? null;
}
