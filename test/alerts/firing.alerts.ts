import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createMetrics } from '../../activities/metrics.js';
import { createGatewayMetrics } from '../../api/service/gateway-metrics.js';
import type { MigrationRun } from '../../schemas/migrations/migrations.js';
import { completedBackup } from '../support/completed-backup.js';
import { createFakeBackupStorage } from '../support/fakes/backups/fake-backup-storage.js';
import { freePort } from '../support/free-port.js';
import { until } from '../support/until.js';
import { alertRules, hurriedRules } from './alert-rules.js';
import { endServer, listenOnLoopback } from '../support/loopback-server.js';

interface Alert {
  state: string;
  labels: Record<string, string>;
  annotations: Record<string, string>;
}

const RUN: MigrationRun = {
  run_id: 'r',
  name: 'vector-store',
  mode: 'run',
  state: 'running',
  phase: 'copying',
  unit: 'chunks',
  done: 1,
  total: 2,
  pages_per_second: null,
  figures: {},
  started_by: '1',
  error: null,
  finished_at: null,
  started_at: new Date(),
  updated_at: new Date(),
};
const NONE = { QUEUED: 0, SERIALIZING: 0, COMPLETED: 0, FAILED: 0, CANCELLED: 0 };

function ago(seconds: number): Date {
  return new Date(Date.now() - seconds * 1000);
}

/** What the service would be like; the test turns it. */
const health = { good: true, documentsEnd: true };
const metrics = createGatewayMetrics(createMetrics());
const { meter } = metrics;
metrics.watchTasks({ countByState: async () => ({ ...NONE, QUEUED: 3 }) });
metrics.watchSignals(
  {
    summaries: async () => [
      {
        watcher: 'w',
        waiting: 1,
        lastQuarantined: null,
        oldestReceivedAt: ago(health.good ? 10 : 400),
        quarantined: health.good ? 0 : 1,
      },
    ],
  },
  () => new Date(),
);
metrics.watchMigrations(
  { latest: async () => [{ ...RUN, updated_at: ago(health.good ? 1 : 700) }] },
  () => new Date(),
);
metrics.watchBackups(
  {
    storage: createFakeBackupStorage(),
    runs: { lastBackup: async () => (health.good ? completedBackup(ago(600)) : null) },
  },
  () => new Date(),
);
metrics.watchDisk(async () => (health.good ? 0.5 : 0.9));

/** Some traffic, of which all or a fifth goes well. */
function work(): void {
  for (let index = 0; index < 5; index += 1) {
    const bad = !health.good && index > 0;
    metrics.countRequest({ method: 'GET', endpoint: '/version', status: bad ? 500 : 200, seconds: 0.01 });
    meter.engineCalled({ engine: 'opensearch', operation: 'bulk', seconds: 0.01, failed: bad });
    if (health.documentsEnd) meter.documentEnded(bad ? 'FAILED' : 'COMPLETED');
  }
  meter.breakerTurned('llm:default', health.good ? 'closed' : 'open');
}

let exporter: Server;
let prometheus: ChildProcess;
let folder: string;
let base: string;
let traffic: NodeJS.Timeout;

async function firing(): Promise<Alert[]> {
  const answer = await fetch(`${base}/api/v1/alerts`);
  const { data } = (await answer.json()) as { data: { alerts: Alert[] } };
  return data.alerts.filter(({ state }) => state === 'firing');
}

async function names(): Promise<string[]> {
  return (await firing()).map(({ labels }) => labels['alertname']!).sort();
}

async function value(query: string): Promise<number> {
  const answer = await fetch(`${base}/api/v1/query?query=${encodeURIComponent(query)}`);
  const { data } = (await answer.json()) as { data: { result: { value: [number, string] }[] } };
  return Number(data.result[0]?.value[1] ?? Number.NaN);
}

beforeAll(async () => {
  const programs = process.env['PROMETHEUS_PROGRAMS'];
  if (programs === undefined) throw new Error('PROMETHEUS_PROGRAMS is not set: run `npm run test:alerts`');
  exporter = createServer((_request, response) => {
    void metrics.read().then(({ type, text }) => response.writeHead(200, { 'content-type': type }).end(text));
  });
  const { url } = await listenOnLoopback(exporter);
  folder = mkdtempSync(join(tmpdir(), 'tamis-prometheus-'));
  const target = new URL(url).host;
  // JSON is YAML.
  writeFileSync(join(folder, 'rules.yaml'), JSON.stringify(hurriedRules('5s', '1s')));
  writeFileSync(
    join(folder, 'prometheus.yaml'),
    JSON.stringify({
      global: { scrape_interval: '500ms', scrape_timeout: '500ms', evaluation_interval: '500ms' },
      rule_files: ['rules.yaml'],
      scrape_configs: [{ job_name: 'tamis', static_configs: [{ targets: [target] }] }],
    }),
  );
  work();
  traffic = setInterval(work, 200);
  const port = await freePort();
  base = `http://127.0.0.1:${port}`;
  prometheus = spawn(
    join(programs, 'prometheus'),
    [
      `--config.file=${join(folder, 'prometheus.yaml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { stdio: 'ignore' },
  );
  await until('Prometheus answers', () =>
    fetch(`${base}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    ),
  );
}, 60_000);
afterAll(async () => {
  clearInterval(traffic);
  if (prometheus?.exitCode === null) {
    const gone = once(prometheus, 'exit');
    prometheus.kill('SIGKILL');
    await gone;
  }
  await endServer(exporter);
  rmSync(folder, { recursive: true, force: true });
});

it('lets each alert fire in a Prometheus when its time has come, and no other', async () => {
  // Each rule is evaluated often enough to have fired.
  await until(
    'ten seconds of traffic were seen',
    async () => (await value('sum(increase(openrag_http_requests_total[10s]))')) > 150,
  );
  expect(await names()).toEqual([]);

  health.good = false;
  const all = alertRules()
    .map(({ alert }) => alert)
    .sort();
  const others = all.filter((name) => name !== 'TamisNotScraped' && name !== 'TamisIndexingStands');
  await until('what is wrong fires', async () => (await names()).length === others.length);
  expect(await names()).toEqual(others);
  const alerts = await firing();
  expect(alerts.map(({ labels, annotations }) => [labels, annotations['summary']])).toEqual(
    expect.arrayContaining([
      [
        { alertname: 'TamisBreakerOpen', severity: 'warning', name: 'llm:default' },
        'The model endpoint llm:default fails and is left alone',
      ],
      [
        { alertname: 'TamisEngineFails', severity: 'warning', engine: 'opensearch' },
        'More than one call in twenty to opensearch fails',
      ],
    ]),
  );

  health.documentsEnd = false;
  await until('indexing stands', async () => (await names()).includes('TamisIndexingStands'));

  health.good = true;
  health.documentsEnd = true;
  await until('all is well again', async () => (await names()).length === 0, { withinMs: 60_000 });

  await endServer(exporter);
  await until('nobody answers', async () => (await names()).includes('TamisNotScraped'), {
    withinMs: 60_000,
  });
});
