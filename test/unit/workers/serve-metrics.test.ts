import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { afterEach, describe, expect, test } from '@jest/globals';
import { createMetrics } from '../../../activities/metrics.js';
import { parseConfig } from '../../../schemas/config/config.js';
import { serveMetrics } from '../../../workers/serve-metrics.js';
import { endServer, listenOnLoopback } from '../../support/loopback-server.js';

const SERIES = 'tamis_signals_forwarded_total 3';
const SDK_SERIES = 'temporal_worker_task_slots_available{worker_type="ActivityWorker"} 10';
const AUTH_TOKEN = 'or-admin-0123456789abcdef';
const METRICS_TOKEN = 'scraper-0123456789abcdef';

let served: Awaited<ReturnType<typeof serveMetrics>>;
let exporter: Server | undefined;
afterEach(async () => {
  await served.close();
  exporter?.close();
  exporter = undefined;
});

async function serve(environment: Record<string, string>, sdkUrl: string | null = null): Promise<void> {
  const metrics = createMetrics();
  metrics.meter.signalsForwarded(3);
  const config = parseConfig({ AUTH_TOKEN, ...environment });
  served = await serveMetrics({ config, metrics, host: '127.0.0.1', port: 0, sdkUrl });
}

function ask(path = '/metrics', token?: string): Promise<Response> {
  return fetch(`http://127.0.0.1:${served.port}${path}`, {
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
  });
}

describe('the metrics of a worker', () => {
  test('are answered to the metrics token alone', async () => {
    await serve({ METRICS_TOKEN });
    const answer = await ask('/metrics', METRICS_TOKEN);
    expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
    expect((await answer.text()).split('\n')).toContain(SERIES);
    for (const token of [undefined, AUTH_TOKEN, `${METRICS_TOKEN}x`]) {
      const refused = await ask('/metrics', token);
      expect([refused.status, await refused.text()]).toEqual([403, 'Invalid metrics token\n']);
    }
  });

  test('are closed unless they were opened', async () => {
    await serve({});
    expect((await ask()).status).toBe(403);
    await served.close();
    await serve({ METRICS_ALLOW_UNAUTHENTICATED: 'true' });
    expect((await ask()).status).toBe(200);
    expect((await ask('/')).status).toBe(404);
    expect((await ask('/metrics/x')).status).toBe(404);
  });

  test('hold those of the SDK, and lack them when its exporter does not answer', async () => {
    exporter = createServer((_request, response) => response.end(`${SDK_SERIES}\n`));
    const { url } = await listenOnLoopback(exporter);
    const sdkUrl = `${url}/metrics`;
    await serve({ METRICS_ALLOW_UNAUTHENTICATED: 'true' }, sdkUrl);
    expect((await (await ask()).text()).split('\n')).toEqual(expect.arrayContaining([SERIES, SDK_SERIES]));
    await endServer(exporter);
    const alone = await (await ask()).text();
    expect(alone.split('\n')).toContain(SERIES);
    expect(alone).not.toContain('temporal_');
  });
});
