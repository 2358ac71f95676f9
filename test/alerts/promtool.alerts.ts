import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RULES_FILE, alertRules } from './alert-rules.js';

const run = promisify(execFile);

/** Values every 30 s, in promtool's notation: `0+2x40` begins at 0 and rises by 2, forty times. */
type Series = Record<string, string>;

interface Case {
  /** Until it has held for long enough. */
  after: string;
  fires: Series[];
  /** A little less than is needed. */
  quiet: Series[];
  /** Besides the severity. */
  labels?: Record<string, string>;
}

function documents(state: string): string {
  return `openrag_ingest_documents_total{status="${state}"}`;
}

/** promtool reads no `Infx200`. */
const ENDLESS = Array.from({ length: 200 }, () => 'Inf').join(' ');
const ENGINE = '{engine="mongodb",operation="files.get"}';
const MIGRATION = 'tamis_migration_idle_seconds{migration="vector-store",mode="run"}';

const CASES: Record<string, Case> = {
  TamisNotScraped: {
    after: '6m',
    fires: [{ up: '0x20' }],
    quiet: [{ openrag_http_request_failures_total: '0x20' }],
  },
  TamisSignalsWait: {
    after: '3m',
    fires: [{ 'tamis_signals_oldest_waiting_seconds{instance="a"}': '301x20' }],
    quiet: [{ 'tamis_signals_oldest_waiting_seconds{instance="a"}': '300x20' }],
  },
  TamisSignalsQuarantined: {
    after: '16m',
    fires: [{ tamis_signals_quarantined: '1x60' }],
    quiet: [{ tamis_signals_quarantined: '0x60' }, { tamis_signals_quarantined: '1x10 0x50' }],
  },
  TamisIndexingFails: {
    after: '21m',
    fires: [{ [documents('COMPLETED')]: '0+8x60', [documents('FAILED')]: '0+2x60' }],
    quiet: [{ [documents('COMPLETED')]: '0+19x60', [documents('FAILED')]: '0+1x60' }],
  },
  TamisIndexingStands: {
    after: '65m',
    fires: [
      { 'openrag_ingest_tasks{state="QUEUED"}': '3x200', [documents('COMPLETED')]: '7x200' },
      // No worker has ended one since it started, or there is none.
      { 'openrag_ingest_tasks{state="QUEUED"}': '3x200' },
    ],
    quiet: [
      { 'openrag_ingest_tasks{state="QUEUED"}': '3x200', [documents('COMPLETED')]: '0+1x200' },
      { 'openrag_ingest_tasks{state="QUEUED"}': '0x200', [documents('COMPLETED')]: '7x200' },
    ],
  },
  TamisBreakerOpen: {
    after: '3m',
    fires: [{ 'openrag_circuit_breaker_state{name="llm:default",instance="a"}': '2x20' }],
    quiet: [{ 'openrag_circuit_breaker_state{name="llm:default",instance="a"}': '2x2 0x18' }],
    labels: { name: 'llm:default' },
  },
  TamisMigrationStuck: {
    after: '6m',
    fires: [{ [MIGRATION]: '601x40' }],
    quiet: [{ [MIGRATION]: '600x40' }],
    labels: { migration: 'vector-store', mode: 'run' },
  },
  TamisBackupOld: {
    after: '65m',
    fires: [{ tamis_backup_age_seconds: '129601+30x200' }, { tamis_backup_age_seconds: ENDLESS }],
    quiet: [{ tamis_backup_age_seconds: '129600x200' }, { up: '1x200' }],
  },
  TamisDiskFillsUp: {
    after: '6m',
    fires: [{ tamis_opensearch_disk_used_ratio: '0.81x40' }],
    quiet: [{ tamis_opensearch_disk_used_ratio: '0.8x40' }],
  },
  TamisEngineFails: {
    after: '12m',
    fires: [
      {
        [`tamis_engine_errors_total${ENGINE}`]: '0+2x40',
        [`tamis_engine_call_duration_seconds_count${ENGINE}`]: '0+20x40',
      },
    ],
    quiet: [
      {
        [`tamis_engine_errors_total${ENGINE}`]: '0+1x40',
        [`tamis_engine_call_duration_seconds_count${ENGINE}`]: '0+40x40',
      },
    ],
    labels: { engine: 'mongodb' },
  },
  TamisRequestsFail: {
    after: '12m',
    fires: [{ openrag_http_request_failures_total: '0+3x40', openrag_http_requests_total: '0+100x40' }],
    quiet: [{ openrag_http_request_failures_total: '0+1x40', openrag_http_requests_total: '0+100x40' }],
  },
};

let folder: string;
beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), 'tamis-promtool-'))));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function promtool(...args: string[]): Promise<{ stdout: string }> {
  const programs = process.env['PROMETHEUS_PROGRAMS'];
  if (programs === undefined) throw new Error('PROMETHEUS_PROGRAMS is not set: run `npm run test:alerts`');
  return run(join(programs, 'promtool'), args);
}

/** Fails with what promtool says where the alert is not as expected. */
async function check(name: string, series: Series, expected: unknown[], after: string): Promise<void> {
  const file = join(folder, `${name}.yaml`);
  const test = {
    interval: '30s',
    input_series: Object.entries(series).map(([one, values]) => ({ series: one, values })),
    alert_rule_test: [{ eval_time: after, alertname: name, exp_alerts: expected }],
  };
  // JSON is YAML.
  writeFileSync(
    file,
    JSON.stringify({ rule_files: [RULES_FILE], evaluation_interval: '30s', tests: [test] }),
  );
  await promtool('test', 'rules', file);
}

describe('the alert rules', () => {
  it('are ones', async () => {
    expect((await promtool('check', 'rules', RULES_FILE)).stdout).toContain(
      `${alertRules().length} rules found`,
    );
  });

  it('have each a case here', () => {
    expect(Object.keys(CASES)).toEqual(alertRules().map(({ alert }) => alert));
  });
});

describe.each(alertRules())('$alert', ({ alert, labels, annotations }) => {
  const { fires, quiet, after, labels: more = {} } = CASES[alert]!;
  const shown = Object.fromEntries(
    Object.entries(annotations).map(([name, text]) => [
      name,
      text.replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, (_all, label: string) => more[label]!),
    ]),
  );

  it.each(fires)('fires for %j', async (series) => {
    await check(alert, series, [{ exp_labels: { ...labels, ...more }, exp_annotations: shown }], after);
  });

  it.each(quiet)('does not for %j', async (series) => {
    await check(alert, series, [], after);
  });

  it('is told from one that does not fire', async () => {
    await expect(check(alert, fires[0]!, [], after)).rejects.toThrow(alert);
  });
});
