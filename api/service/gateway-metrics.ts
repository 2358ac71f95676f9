import { Counter, Gauge, Histogram } from 'prom-client';
import { DURATION_BUCKETS, createMetrics, watchProcess } from '../../activities/metrics.js';
import type { ProcessMetrics } from '../../activities/metrics.js';
import type { BackupAdapters, BackupRunStore } from '../../activities/ports/backups.js';
import type { MigrationStore } from '../../activities/ports/migrations.js';
import type { Meter } from '../../activities/ports/meter.js';
import type { AlertStore, QueueSummary } from '../../activities/ports/signals.js';
import type { TaskStore } from '../../activities/ports/tasks.js';
import { ACTIVE_STATES } from '../../schemas/documents/tasks.js';
import { isFinalMigrationState } from '../../schemas/migrations/migrations.js';
import type { MigrationRun } from '../../schemas/migrations/migrations.js';
import { LATE, orLate } from '../../activities/temporal/or-late.js';

/** A scraper gives up after ten seconds, and a store that stands still must not cost it the other series. */
const READ_WITHIN_MS = 1000;
/** Several scrapers, or gateways that are scraped together, ask the stores about so often. */
const KEEP_MS = 5000;

/** Where no route matched: the path itself may hold anything. */
const NO_ROUTE = 'none';

type LastBackup = Pick<BackupRunStore, 'lastBackup'>;

export interface GatewayMetrics {
  /** What the gateway's parts count. */
  meter: Meter;
  /** @param endpoint the template of the route; undefined when none matched */
  countRequest(request: {
    method: string;
    endpoint: string | undefined;
    status: number;
    seconds: number;
  }): void;
  /** What is counted across processes, asked of the store when a scraper comes. */
  watchTasks(tasks: Pick<TaskStore, 'countByState'>): void;
  watchSignals(alerts: Pick<AlertStore, 'summaries'>, now: () => Date): void;
  /** Runs of migrations that have not ended. */
  watchMigrations(runs: Pick<MigrationStore, 'latest'>, now: () => Date): void;
  /** The last backup that came to its end; nothing where backups have no place. */
  watchBackups(backups: Pick<BackupAdapters, 'storage'> & { runs: LastBackup }, now: () => Date): void;
  /** The fullest disk of the vector store's machines. */
  watchDisk(used: () => Promise<number | null>): void;
  /** Event loop, heap, processor time and handles of this process. */
  watchProcess(): void;
  /** The text of a scrape. */
  read(): Promise<{ type: string; text: string }>;
}

/** One read for all that come within `KEEP_MS`; null when the store did not answer in time, or could not. */
function boundedRead<T>(read: () => Promise<T>): () => Promise<T | null> {
  let kept: { answer: Promise<T | null>; until: number } | undefined;
  return () => {
    if (kept === undefined || performance.now() >= kept.until) {
      const answer = orLate(
        // A store that throws at once must not fail the scrape either.
        Promise.resolve().then(read),
        READ_WITHIN_MS,
      ).then(
        (value) => (value === LATE ? null : value),
        () => null,
      );
      kept = { answer, until: performance.now() + KEEP_MS };
    }
    return kept.answer;
  };
}

/**
 * What a gateway counts, under the names of the wire contract, section 6.3. No label holds a partition, a user, a file,
 * a watcher or an address: of a request only the route's template is named, of queues only their sums.
 */
export function createGatewayMetrics({ registry, meter }: ProcessMetrics = createMetrics()): GatewayMetrics {
  const registers = [registry];
  const requests = new Counter({
    name: 'openrag_http_requests_total',
    help: 'Requests, by route and status',
    labelNames: ['method', 'endpoint', 'status_code'],
    registers,
  });
  const failures = new Counter({
    name: 'openrag_http_request_failures_total',
    help: 'Requests answered with a status of 500 or more',
    registers,
  });
  const durations = new Histogram({
    name: 'openrag_http_request_duration_seconds',
    help: 'From the start of a request to the end of its answer',
    labelNames: ['method', 'endpoint'],
    buckets: DURATION_BUCKETS,
    registers,
  });

  return {
    meter,

    countRequest({ method, endpoint = NO_ROUTE, status, seconds }) {
      requests.inc({ method, endpoint, status_code: status });
      if (status >= 500) failures.inc();
      durations.observe({ method, endpoint }, seconds);
    },

    watchTasks(tasks) {
      const read = boundedRead(() => tasks.countByState());
      new Gauge({
        name: 'openrag_ingest_tasks',
        help: 'Tasks of all users that wait or run; absent while the store cannot be read',
        labelNames: ['state'],
        registers,
        async collect() {
          const counts = await read();
          this.reset();
          if (counts !== null) for (const state of ACTIVE_STATES) this.set({ state }, counts[state]);
        },
      });
    },

    watchSignals(alerts, now) {
      const read = boundedRead(() => alerts.summaries());
      const gauge = (
        name: string,
        help: string,
        value: (queues: readonly QueueSummary[]) => number,
      ): void => {
        new Gauge({
          name,
          help: `${help}; absent while the store cannot be read`,
          registers,
          async collect() {
            const queues = await read();
            // `reset` would leave a gauge without labels at 0, which would say that nothing waits.
            if (queues === null) this.remove();
            else this.set(value(queues));
          },
        });
      };
      gauge('tamis_signals_waiting', 'Signals that wait for the central API', (queues) =>
        queues.reduce((total, queue) => total + queue.waiting, 0),
      );
      gauge('tamis_signals_oldest_waiting_seconds', 'Age of the signal that waits longest', (queues) => {
        const oldest = queues.flatMap(({ oldestReceivedAt }) => oldestReceivedAt?.getTime() ?? []);
        return oldest.length === 0 ? 0 : Math.max(0, (now().getTime() - Math.min(...oldest)) / 1000);
      });
      gauge('tamis_signals_quarantined', 'Signals that the central API refused', (queues) =>
        queues.reduce((total, queue) => total + queue.quarantined, 0),
      );
    },

    watchMigrations(runs, now) {
      const read = boundedRead(async () => {
        const latest = await runs.latest();
        return latest.filter(({ state }) => !isFinalMigrationState(state));
      });
      const gauge = (name: string, help: string, value: (run: MigrationRun) => number | null): void => {
        new Gauge({
          name,
          help,
          labelNames: ['migration', 'mode'],
          registers,
          async collect() {
            const open = (await read()) ?? [];
            this.reset();
            for (const run of open) {
              const one = value(run);
              if (one !== null) this.set({ migration: run.name, mode: run.mode }, one);
            }
          },
        });
      };
      gauge('tamis_migration_running', 'Migrations under way: 1, and 0 while paused', ({ state }) =>
        state === 'paused' ? 0 : 1,
      );
      gauge('tamis_migration_progress_ratio', 'How far a migration is, where its extent is known', (run) =>
        run.total === null || run.total === 0 ? null : Math.min(1, run.done / run.total),
      );
      gauge('tamis_migration_idle_seconds', 'Since a running migration last reported', (run) =>
        run.state === 'paused' ? null : Math.max(0, (now().getTime() - run.updated_at.getTime()) / 1000),
      );
    },

    watchBackups({ storage, runs }, now) {
      if (storage === null) return;
      const read = boundedRead(async () => ({ last: await runs.lastBackup() }));
      new Gauge({
        name: 'tamis_backup_age_seconds',
        help: 'Since the last completed backup began, +Inf before the first; absent while the store cannot be read',
        registers,
        async collect() {
          const found = await read();
          // What was written since it began is in none.
          const startedAt = found?.last?.started_at.getTime() ?? Number.NEGATIVE_INFINITY;
          if (found === null) this.remove();
          else this.set(Math.max(0, (now().getTime() - startedAt) / 1000));
        },
      });
    },

    watchDisk(used) {
      const read = boundedRead(used);
      new Gauge({
        name: 'tamis_opensearch_disk_used_ratio',
        help: 'Used part of the fullest data disk of OpenSearch; absent where it does not tell',
        registers,
        async collect() {
          const ratio = await read();
          if (ratio === null) this.remove();
          else this.set(ratio);
        },
      });
    },

    watchProcess() {
      watchProcess({ registry });
    },

    async read() {
      return { type: registry.contentType, text: await registry.metrics() };
    },
  };
}
