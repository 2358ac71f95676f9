import { describe, expect, test } from '@jest/globals';
import { createMetrics } from '../../../activities/metrics.js';
import { createGatewayMetrics } from '../../../api/service/gateway-metrics.js';
import { createFakeBackupStorage } from '../../support/fakes/backups/fake-backup-storage.js';
import { grafanaQueries, labelsIn, seriesIn } from '../../support/grafana-series.js';

/** What Prometheus adds, and what every histogram has. */
const ALWAYS = ['job', 'instance', 'le'];

/** Everything that a gateway or a worker registers, with the labels of each. */
function registered(): Map<string, readonly string[]> {
  const metrics = createMetrics();
  const gateway = createGatewayMetrics(metrics);
  const never = async () => Promise.reject(new Error('not asked'));
  gateway.watchTasks({ countByState: never });
  gateway.watchSignals({ summaries: never }, () => new Date());
  gateway.watchMigrations({ latest: never }, () => new Date());
  gateway.watchBackups({ storage: createFakeBackupStorage(), runs: { lastBackup: never } }, () => new Date());
  gateway.watchDisk(never);
  gateway.watchProcess();
  const all = metrics.registry.getMetricsAsArray() as unknown as { name: string; labelNames?: string[] }[];
  return new Map(all.map(({ name, labelNames = [] }) => [name, labelNames]));
}

const known = registered();

/** Temporal's own are looked for in the scrape of a real worker (`test/e2e/secrecy.test.ts`). */
function isTemporals(name: string): boolean {
  return name.startsWith('temporal_');
}

test('every series of the wire contract is registered', () => {
  expect([...known.keys()]).toEqual(
    expect.arrayContaining(
      [
        'http_requests_total',
        'http_request_failures_total',
        'http_request_duration_seconds',
        'circuit_breaker_state',
        'ingest_documents_total',
        'ingest_stage_duration_seconds',
        'ingest_tasks',
        'ingest_queue_wait_seconds',
        'ingest_last_parse_completion_timestamp_seconds',
        'ingest_clock_skew_events_total',
        'inference_requests_total',
        'inference_duration_seconds',
        'llm_tokens_total',
        'retrieval_orphan_chunks_dropped_total',
      ].map((name) => `openrag_${name}`),
    ),
  );
});

describe('dashboards and alert rules', () => {
  test('are there for each job and for the engines', () => {
    const files = new Set(grafanaQueries().map(({ where }) => where.split(':')[0]));
    expect([...files].sort()).toEqual(['alerts.yaml', 'documents.json', 'engines.json', 'proxy.json']);
  });

  test.each(grafanaQueries().map((query) => [query.where, query] as const))(
    '%s names series and labels that exist',
    (_where, query) => {
      const names = seriesIn(query);
      expect(names.length).toBeGreaterThan(0);
      const own = names.filter((name) => !isTemporals(name));
      expect(own.filter((name) => !known.has(name))).toEqual([]);
      if (own.length < names.length) return;
      const labels = new Set([...ALWAYS, ...own.flatMap((name) => known.get(name) ?? [])]);
      expect(labelsIn(query).filter((label) => !labels.has(label))).toEqual([]);
    },
  );

  test('leave out no series of ours but those that others stand for', () => {
    const named = new Set(grafanaQueries().flatMap(seriesIn));
    const ours = [...known.keys()].filter((name) => /^(openrag|tamis)_/.test(name));
    // Whether one runs is seen by its progress.
    expect(ours.filter((name) => !named.has(name))).toEqual(['tamis_migration_running']);
  });
});
