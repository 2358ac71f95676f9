import { afterEach, expect, test } from '@jest/globals';
import { until } from '../../support/until.js';
import { startGateway } from '../support/start-gateway.js';
import type { Gateway } from '../support/start-gateway.js';
import { startProxy } from '../support/start-proxy.js';

let gateway: Pick<Gateway, 'url' | 'logLines' | 'close'>;
afterEach(() => gateway.close());

/** The line of the access log for a path. */
async function lineOf(path: string): Promise<Record<string, unknown>> {
  const find = (): Record<string, unknown> | undefined =>
    gateway.logLines
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .find((line) => line['msg'] === 'request' && line['path'] === path);
  await until(`the line of ${path}`, async () => find() !== undefined);
  return find() ?? {};
}

const TOKEN = 'or-guess-0123456789abcdef';

function from(address: string): Record<string, string> {
  return {
    'X-Forwarded-For': address,
    Authorization: `Bearer ${TOKEN}`,
    'X-Api-Key': TOKEN,
  };
}

test('a refusal of each side is logged with its reason and the address that trusted proxies name', async () => {
  gateway = await startProxy();
  for (const [path, method, refusal, status] of [
    ['/partition/', 'GET', 'Invalid token', 403],
    ['/api/alerts', 'GET', expect.any(String), 401],
    ['/v3/signals', 'POST', expect.any(String), 401],
  ] as const) {
    const headers: Record<string, string> = from('203.0.113.9');
    if (path === '/v3/signals') delete headers['Authorization'];
    await fetch(`${gateway.url}${path}`, { method, headers });
    expect(await lineOf(path)).toMatchObject({ client: '203.0.113.9', status, refusal });
  }
  expect(gateway.logLines.join('')).not.toContain(TOKEN);
});

test('a request over the limit is logged with its address', async () => {
  gateway = await startGateway({ env: { RATE_LIMIT_DEFAULT: '1/minute' } });
  await fetch(`${gateway.url}/version`, { headers: from('203.0.113.7') });
  await fetch(`${gateway.url}/docs`, { headers: from('203.0.113.7') });
  expect(await lineOf('/docs')).toMatchObject({
    client: '203.0.113.7',
    status: 429,
    refusal: expect.stringMatching(/limit|many/i),
  });
});

test('an address that the client made up is not logged as its own', async () => {
  gateway = await startGateway({ env: { UVICORN_FORWARDED_ALLOW_IPS: '192.0.2.1' } });
  await fetch(`${gateway.url}/version`, { headers: from('203.0.113.7') });
  expect(await lineOf('/version')).toMatchObject({ client: '127.0.0.1' });
});

test('a request is logged with the template of the route that served it', async () => {
  gateway = await startProxy();
  for (const [path, route] of [
    ['/partition/some-partition', '/partition/{partition}'],
    ['/api/alerts/17', '/api/alerts/{id}'],
  ] as const) {
    await fetch(`${gateway.url}${path}`, { headers: from('203.0.113.9') });
    expect(await lineOf(path)).toMatchObject({
      route,
      request_id: expect.any(String),
      ms: expect.any(Number),
    });
  }
  await fetch(`${gateway.url}/no/such/path`);
  expect(await lineOf('/no/such/path')).not.toHaveProperty('route');
});
