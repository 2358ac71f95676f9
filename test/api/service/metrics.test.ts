import { afterEach, describe, expect, test } from '@jest/globals';
import { createFakeBackupStorage } from '../../support/fakes/backups/fake-backup-storage.js';
import { until } from '../../support/until.js';
import { ADMIN_TOKEN, startGateway } from '../support/start-gateway.js';
import type { Gateway } from '../support/start-gateway.js';
import { startProxy } from '../support/start-proxy.js';
import type { Proxy } from '../support/start-proxy.js';
import { completedBackup } from '../../support/completed-backup.js';

const METRICS_TOKEN = 'scraper-0123456789abcdef';
const OPEN = { METRICS_ALLOW_UNAUTHENTICATED: 'true' };

let gateway: Gateway | Proxy;
afterEach(() => gateway.close());

async function detailOf(response: Response): Promise<unknown> {
  return ((await response.json()) as { detail: unknown }).detail;
}

async function scrape(): Promise<string> {
  return (await gateway.call('GET', '/metrics', { token: null })).text();
}

/** Waits until a scrape holds the text: a request is counted when its connection is done with it. */
function untilScraped(text: string): Promise<true> {
  return until(`a scrape with ${text}`, async () => (await scrape()).includes(text));
}

describe('who may scrape', () => {
  test('the metrics token may, and nobody else, the administrator included', async () => {
    gateway = await startGateway({ env: { METRICS_TOKEN } });
    const { token: user } = gateway.addUser('ann');
    const answer = await gateway.call('GET', '/metrics', { token: METRICS_TOKEN });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
    for (const token of [ADMIN_TOKEN, user, null, `${METRICS_TOKEN}x`]) {
      const refused = await gateway.call('GET', '/metrics', { token });
      expect(refused.status).toBe(403);
      expect(await detailOf(refused)).toBe('Invalid metrics token');
    }
  });

  test('an administrator is refused also where both tokens were set alike', async () => {
    gateway = await startGateway({ env: { METRICS_TOKEN: ADMIN_TOKEN } });
    expect((await gateway.call('GET', '/metrics')).status).toBe(403);
  });

  test('guesses of the metrics token count as failed sign-ins of their address', async () => {
    gateway = await startGateway({
      env: { METRICS_TOKEN, RATE_LIMIT_ENABLED: 'true', RATE_LIMIT_AUTH_FAILURE: '20/minute' },
    });
    const ask = async (token: string) => (await gateway.call('GET', '/metrics', { token })).status;
    for (let guess = 0; guess < 20; guess += 1) expect(await ask(`guess-${guess}`)).toBe(403);
    expect(await ask('one more')).toBe(429);
    expect(await ask(METRICS_TOKEN)).toBe(429);
  });

  test('without a metrics token everybody is refused', async () => {
    gateway = await startGateway();
    for (const token of [ADMIN_TOKEN, null]) {
      const refused = await gateway.call('GET', '/metrics', { token });
      expect(refused.status).toBe(403);
      expect(await detailOf(refused)).toMatch(
        /^Metrics endpoint disabled: .*METRICS_TOKEN.*METRICS_ALLOW_UNAUTHENTICATED/,
      );
    }
  });

  test('without a metrics token it can be opened', async () => {
    gateway = await startGateway({ env: OPEN });
    expect((await gateway.call('GET', '/metrics', { token: null })).status).toBe(200);
  });

  test('a metrics token closes what was opened', async () => {
    gateway = await startGateway({ env: { ...OPEN, METRICS_TOKEN } });
    expect((await gateway.call('GET', '/metrics', { token: null })).status).toBe(403);
  });

  test('administrators read the same under /monitoring/metrics, others do not', async () => {
    gateway = await startGateway({ env: { METRICS_TOKEN } });
    const { token } = gateway.addUser('ann');
    const answer = await gateway.call('GET', '/monitoring/metrics');
    expect(await answer.text()).toContain('# TYPE openrag_http_requests_total counter');
    for (const other of [token, METRICS_TOKEN, null])
      expect((await gateway.call('GET', '/monitoring/metrics', { token: other })).status).toBe(403);
  });
});

describe('what is counted', () => {
  test('requests by route template and status, with their duration', async () => {
    gateway = await startGateway({ env: OPEN });
    await gateway.call('GET', '/partition/some-partition');
    await gateway.call('GET', '/no/such/some-path');
    await untilScraped(
      'openrag_http_requests_total{method="GET",endpoint="/partition/{partition}",status_code="404"} 1',
    );
    await untilScraped('openrag_http_requests_total{method="GET",endpoint="none",status_code="404"} 1');
    expect(await scrape()).toContain(
      'openrag_http_request_duration_seconds_count{method="GET",endpoint="/partition/{partition}"} 1',
    );
  });

  test('failures are answers of 500 and above', async () => {
    gateway = await startGateway({
      env: OPEN,
      adapt: (adapters) => ({
        ...adapters,
        probes: { ...adapters.probes, mongodb: () => Promise.reject(new Error('away')) },
      }),
    });
    expect(await scrape()).toContain('openrag_http_request_failures_total 0');
    expect((await gateway.call('GET', '/ready', { token: null })).status).toBe(503);
    await untilScraped('openrag_http_request_failures_total 1');
  });

  test('tasks by state; none while the store cannot be read, or does not answer', async () => {
    gateway = await startGateway({ env: OPEN });
    expect(await scrape()).toContain('openrag_ingest_tasks{state="QUEUED"} 0');
    for (const countByState of [
      () => Promise.reject(new Error('away')),
      () => new Promise<never>(() => {}),
    ]) {
      await gateway.close();
      gateway = await startGateway({
        env: OPEN,
        adapt: (adapters) => ({ ...adapters, tasks: { ...adapters.tasks, countByState } }),
      });
      const text = await scrape();
      expect(text).not.toContain('openrag_ingest_tasks{');
      expect(text).toContain('openrag_http_request_failures_total');
    }
  });

  test('waiting and quarantined signals of all watchers, and the age of the oldest', async () => {
    const queue = { quarantined: 1, lastQuarantined: null };
    gateway = await startProxy({
      env: OPEN,
      now: () => new Date('2026-01-01T00:10:00Z'),
      adapt: ({ alerts }) => ({
        alerts: {
          ...alerts,
          summaries: async () => [
            { ...queue, watcher: 'a', waiting: 3, oldestReceivedAt: new Date('2026-01-01T00:04:00Z') },
            { ...queue, watcher: 'b', waiting: 4, oldestReceivedAt: new Date('2026-01-01T00:05:00Z') },
          ],
        },
      }),
    });
    const lines = (await scrape()).split('\n');
    expect(lines).toEqual(
      expect.arrayContaining([
        'tamis_signals_waiting 7',
        'tamis_signals_oldest_waiting_seconds 360',
        'tamis_signals_quarantined 2',
      ]),
    );
  });

  test('no figure of signals while their store cannot be read', async () => {
    gateway = await startProxy({
      env: OPEN,
      adapt: ({ alerts }) => ({
        alerts: { ...alerts, summaries: () => Promise.reject(new Error('away')) },
      }),
    });
    expect(await scrape()).not.toMatch(/^tamis_signals_(waiting|oldest_waiting_seconds|quarantined)/m);
  });

  test('the age of the last completed backup, +Inf before the first; none where they have no place', async () => {
    gateway = await startGateway({ env: OPEN });
    expect(await scrape()).toContain('\ntamis_backup_age_seconds +Inf\n');
    await gateway.close();

    let storage: Gateway['backups']['storage'] = createFakeBackupStorage();
    let began = new Date(Date.now() - 90_000);
    const lastBackup = async () => completedBackup(began);
    const open = () =>
      startGateway({
        env: OPEN,
        adapt: (adapters) => ({
          ...adapters,
          backups: { ...adapters.backups, storage, runs: { ...adapters.backups.runs, lastBackup } },
        }),
      });
    gateway = await open();
    const age = Number(/^tamis_backup_age_seconds (\S+)$/m.exec(await scrape())?.[1]);
    expect(age).toBeGreaterThanOrEqual(90);
    expect(age).toBeLessThan(3_600);
    await gateway.close();

    // A clock that is behind.
    began = new Date(Date.now() + 3_600_000);
    gateway = await open();
    expect(await scrape()).toContain('\ntamis_backup_age_seconds 0\n');
    await gateway.close();

    storage = null;
    gateway = await open();
    expect(await scrape()).not.toContain('tamis_backup_age_seconds');
  });

  test('no age of backups while their store cannot be read', async () => {
    const lastBackup = () => Promise.reject(new Error('away'));
    gateway = await startGateway({
      env: OPEN,
      adapt: (adapters) => ({
        ...adapters,
        backups: { ...adapters.backups, runs: { ...adapters.backups.runs, lastBackup } },
      }),
    });
    const text = await scrape();
    expect(text).not.toMatch(/^tamis_backup_age_seconds/m);
    expect(text).toContain('openrag_http_request_failures_total');
  });

  test('signals of pushes, by the rules that filtered them, and each push', async () => {
    const rule = (name: string, value: string) => ({
      name,
      filter: { field: 'scenario', op: 'eq', value },
    });
    const proxy = await startProxy({
      env: OPEN,
      rules: [rule('probing', 'a/probe'), rule('noise', 'a/noise')],
    });
    gateway = proxy;
    const signal = (scenario: string) => ({ scenario, source: { scope: 'Ip', value: '203.0.113.7' } });
    const signals = [
      signal('a/probe'),
      { ...signal('a/probe'), id: 2 },
      signal('a/noise'),
      signal('a/other'),
    ];
    expect((await proxy.push(signals)).status).toBe(200);
    // A LAPI that did not hear the answer offers the same once more.
    expect((await proxy.push(signals)).status).toBe(200);
    const lines = (await scrape()).split('\n');
    expect(lines).toEqual(
      expect.arrayContaining([
        'tamis_signals_accepted_total 4',
        'tamis_signals_filtered_total{rule="probing"} 2',
        'tamis_signals_filtered_total{rule="noise"} 1',
        'tamis_push_duration_seconds_count 2',
      ]),
    );
  });

  test('what no rule of an allow list let pass', async () => {
    const proxy = await startProxy({
      env: OPEN,
      mode: 'allow',
      rules: [{ name: 'wanted', filter: { field: 'scenario', op: 'eq', value: 'a/wanted' } }],
    });
    gateway = proxy;
    await proxy.push([
      { scenario: 'a/other', source: {} },
      { scenario: 'a/wanted', source: {} },
    ]);
    const text = await scrape();
    expect(text).toContain('tamis_signals_filtered_total{rule="none"} 1');
    expect(text).not.toContain('rule="wanted"');
  });

  test('migrations while they are open, with how far they are and since when they stand still', async () => {
    const started = await startGateway({ env: OPEN });
    gateway = started;
    expect(await scrape()).not.toContain('tamis_migration_running{');
    await started.close();
    gateway = await startGateway({
      env: OPEN,
      adapt: (adapters) => {
        const { store } = adapters.migrations;
        const latest = async () =>
          (await store.latest()).map((run) => ({ ...run, updated_at: new Date(Date.now() - 600_000) }));
        return { ...adapters, migrations: { ...adapters.migrations, store: { ...store, latest } } };
      },
    });
    const { store } = gateway.migrations;
    const run = { unit: 'chunks', pages_per_second: null, started_by: '1' };
    await store.insert({ ...run, run_id: 'one', name: 'vector-store', mode: 'run' });
    await store.report('one', {
      phase: 'copying',
      done: 25,
      total: 100,
      figures: {},
      pages_per_second: null,
    });
    await store.insert({ ...run, run_id: 'two', name: 'records', mode: 'run' });
    await store.finish('two', { state: 'completed', error: null });
    const text = await scrape();
    expect(text).toContain('tamis_migration_running{migration="vector-store",mode="run"} 1');
    expect(text).toContain('tamis_migration_progress_ratio{migration="vector-store",mode="run"} 0.25');
    const idle = /^tamis_migration_idle_seconds\{migration="vector-store",mode="run"\} (\S+)$/m.exec(text);
    expect(Number(idle?.[1])).toBeGreaterThanOrEqual(600);
    expect(text).not.toContain('migration="records"');
  });

  test('the fullest disk of the vector store, where it tells', async () => {
    for (const [told, line] of [
      [0.875, /^tamis_opensearch_disk_used_ratio 0\.875$/m],
      [null, /^# TYPE tamis_opensearch_disk_used_ratio gauge$(?!\ntamis_opensearch)/m],
    ] as const) {
      gateway = await startGateway({
        env: OPEN,
        adapt: (adapters) => ({
          ...adapters,
          probes: { ...adapters.probes, diskUse: async () => told },
        }),
      });
      expect(await scrape()).toMatch(line);
      if (told !== null) await gateway.close();
    }
  });
});

test('no series names a partition, user, file, watcher or address', async () => {
  const proxy = await startProxy({ env: OPEN });
  gateway = proxy;
  const planted = 'planted-word';
  const { token } = proxy.addUser(planted);
  const address = '203.0.113.77';
  const init = { token, headers: { 'X-Forwarded-For': address } };
  await proxy.call('POST', `/partition/${planted}`, init);
  await proxy.call('GET', `/partition/${planted}/file/${planted}?q=${planted}`, init);
  await proxy.call('GET', `/search?text=${planted}`, init);
  await proxy.call('GET', `/${planted}/${planted}`, init);
  await proxy.push([{ machine_id: planted, scenario: planted }]);
  await proxy.ask(`/api/alerts/${planted}`);
  await fetch(`${proxy.url}/v2/${planted}`, { headers: { 'X-Forwarded-For': address } });
  await untilScraped('endpoint="/v2/');
  const text = await scrape();
  expect(text).toContain('endpoint="/partition/{partition}"');
  for (const word of [planted, address, token, '127.0.0.1']) expect(text).not.toContain(word);
});
