import { afterEach, describe, expect, test } from '@jest/globals';
import { until } from '../../support/until.js';
import { ADMIN_TOKEN, startGateway } from '../support/start-gateway.js';
import type { Gateway } from '../support/start-gateway.js';
import { startProxy } from '../support/start-proxy.js';
import type { Proxy } from '../support/start-proxy.js';

const METRICS_TOKEN = 'scraper-0123456789abcdef';
const OPEN = { METRICS_ALLOW_UNAUTHENTICATED: 'true' };

let gateway: Gateway | Proxy;
afterEach(() => gateway.close());

const detailOf = async (response: Response): Promise<unknown> =>
  ((await response.json()) as { detail: unknown }).detail;

const scrape = async (): Promise<string> => (await gateway.call('GET', '/metrics', { token: null })).text();

/** Waits until a scrape holds the text: a request is counted when its connection is done with it. */
const untilScraped = (text: string): Promise<true> =>
  until(`a scrape with ${text}`, async () => (await scrape()).includes(text));

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
    expect(await scrape()).not.toMatch(/^tamis_signals_/m);
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
