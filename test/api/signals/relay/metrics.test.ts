import { createHash, randomBytes } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { IncomingHttpHeaders, RequestListener } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { mintToken } from '../../../../deploy/stand-in-capi/stand-in-token.js';
import { startProxy } from '../../support/start-proxy.js';
import type { Proxy, ProxyOptions } from '../../support/start-proxy.js';
import { sampleSignal } from '../../../support/signal-client.js';
import { startUpstream } from '../../support/scripted-upstream.js';
import { until } from '../../support/uploads.js';

const { token } = mintToken('w1');
let proxy: Proxy;
let upstream: Awaited<ReturnType<typeof startUpstream>>;
let taken: { url: string; headers: IncomingHttpHeaders; body: Buffer }[];
let answer: (status: number) => void;
let script: RequestListener;

async function begin(options: ProxyOptions = {}) {
  taken = [];
  answer = (status) => {
    script = (req, res) => {
      const chunks: Buffer[] = [];
      req.on('data', (chunk: Buffer) => chunks.push(chunk));
      req.on('end', () => {
        taken.push({ url: req.url!, headers: req.headers, body: Buffer.concat(chunks) });
        res.writeHead(status, { 'retry-after': '7' }).end('{"message":"from CAPI"}');
      });
    };
  };
  answer(200);
  upstream = await startUpstream((req, res) => script(req, res));
  proxy = await startProxy({ capiUrl: upstream.url, ...options });
  // As after a login through the gateway.
  await proxy.stores.watchers.acceptToken('w1', createHash('sha256').update(token).digest('hex'));
}

beforeEach(() => begin());
afterEach(async () => {
  await proxy.close();
  await upstream.close();
});

async function post(path: string, body: string | Buffer, headers: Record<string, string> = {}) {
  const { status, body: said } = await proxy.raw('POST', path, {
    headers: {
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      authorization: `Bearer ${token}`,
      ...headers,
    },
    body: Buffer.from(body),
  });
  return { status, body: said.length === 0 ? null : (JSON.parse(String(said)) as unknown) };
}

async function held(watcher = 'w1'): Promise<string[]> {
  const bodies: string[] = [];
  for (let next = await proxy.stores.metrics.next(watcher); next !== null;) {
    bodies.push(gunzipSync((await proxy.stores.metrics.read(next.id))!.bytes).toString());
    await proxy.stores.metrics.remove(next.id);
    next = await proxy.stores.metrics.next(watcher);
  }
  return bodies;
}

describe('POST of metrics', () => {
  it.each([
    ['/v2/metrics/', '/v2/metrics/'],
    ['/v3/metrics', '/v3/metrics/'],
    ['/v3/usage-metrics', '/v3/usage-metrics'],
    ['/v1/usage-metrics', '/v3/usage-metrics'],
  ])('%s goes to CAPI at once while CAPI is there', async (path, target) => {
    expect(await post(path, '{"a":1.10}')).toEqual({ status: 200, body: { message: 'from CAPI' } });
    expect(taken).toMatchObject([{ url: target, headers: { authorization: `Bearer ${token}` } }]);
    expect(String(taken[0]!.body)).toBe('{"a":1.10}');
    expect(await held()).toEqual([]);
  });

  it.each(['/v2/metrics/', '/v3/usage-metrics', '/v1/usage-metrics'])(
    '%s is held while CAPI is down, once, and the actor told',
    async (path) => {
      answer(520);
      expect(await post(path, '{"a":1}')).toEqual({ status: 200, body: { message: 'OK' } });
      await upstream.close();
      expect(await post(path, gzipSync('{"a":1}'), { 'content-encoding': 'gzip' })).toMatchObject({
        status: 200,
      });
      expect(await post(path, '{"a":2}')).toMatchObject({ status: 200 });
      await until(() => proxy.woken.includes('metrics of w1'));
      const shown = (await (await proxy.ask('/api/forwarding')).json()) as { watchers: object[] };
      expect(shown.watchers).toMatchObject([
        { watcher: 'w1', metricsHeld: 2, metricsRefused: 0, hasToken: true },
      ]);
      expect(await held()).toEqual(['{"a":1}', '{"a":2}']);
    },
  );

  it.each([400, 401, 403, 422, 429])('%i is told to the client: CAPI is not down', async (status) => {
    answer(status);
    expect(await post('/v3/usage-metrics', '{}')).toEqual({ status, body: { message: 'from CAPI' } });
    expect(await held()).toEqual([]);
  });

  it('goes out compressed above 5 kB, whatever it came in', async () => {
    const large = JSON.stringify({ pad: 'x'.repeat(6000) });
    await post('/v3/usage-metrics', large);
    await post('/v3/usage-metrics', gzipSync(large), { 'content-encoding': 'gzip' });
    await post('/v3/usage-metrics', gzipSync('{}'), { 'content-encoding': 'gzip' });
    expect(taken.map(({ headers }) => headers['content-encoding'])).toEqual(['gzip', 'gzip', undefined]);
    for (const { body } of taken.slice(0, 2)) expect(String(gunzipSync(body))).toBe(large);
    expect(String(taken[2]!.body)).toBe('{}');
  });

  /** Over 9 MiB. */
  const large = () => {
    const components = Array.from({ length: 5 }, (_, i) => ({
      name: `r${i}`,
      pad: randomBytes(1536 * 1024).toString('hex'),
    }));
    const body = gzipSync(JSON.stringify({ remediation_components: components, log_processors: [] }));
    return { components, body };
  };

  it.each([400, 401, 403, 413, 429])('over 9 MiB, nothing is kept when CAPI answers %d', async (status) => {
    answer(status);
    const { body } = large();
    expect((await post('/v3/usage-metrics', body, { 'content-encoding': 'gzip' })).status).toBe(status);
    expect([taken.length, await held()]).toEqual([1, []]);
    expect(proxy.woken).not.toContain('metrics of w1');
  });

  it('over 9 MiB, the rest goes out where CAPI refuses the first part for good', async () => {
    answer(422);
    const { body } = large();
    expect((await post('/v3/usage-metrics', body, { 'content-encoding': 'gzip' })).status).toBe(422);
    expect((await held()).length).toBeGreaterThan(1);
    expect(proxy.woken).toContain('metrics of w1');
  });

  it('over 9 MiB, nothing is kept when the first part can be neither sent nor held', async () => {
    const { metrics } = proxy.stores;
    const hold = metrics.hold.bind(metrics);
    let holds = 0;
    metrics.hold = async (...given) => ((holds += 1) > 1 ? 'full' : hold(...given));
    answer(503);
    const { body } = large();
    expect((await post('/v3/usage-metrics', body, { 'content-encoding': 'gzip' })).status).toBe(503);
    expect([holds, await held()]).toEqual([2, []]);
    expect(proxy.woken).not.toContain('metrics of w1');
  });

  it('over 9 MiB goes in parts: the first at once, the rest held', async () => {
    const { components, body } = large();
    expect((await post('/v3/usage-metrics', body, { 'content-encoding': 'gzip' })).status).toBe(200);
    const namesIn = (text: string): string[] =>
      (JSON.parse(text) as { remediation_components: { name: string }[] }).remediation_components.map(
        ({ name }) => name,
      );
    expect(taken).toHaveLength(1);
    const rest = await held();
    const parts = [String(gunzipSync(taken[0]!.body)), ...rest];
    expect(parts.length).toBeGreaterThan(2);
    expect(parts.flatMap(namesIn)).toEqual(components.map(({ name }) => name));
    for (const part of parts) expect(part.length).toBeLessThanOrEqual(9 * 1024 * 1024);
  });

  it('is told to the actor again when the watcher comes with a newer token, if anything is held', async () => {
    await proxy.push([sampleSignal(1)], { token: mintToken('w2').token });
    answer(520);
    await post('/v3/usage-metrics', '{}');
    await until(() => proxy.woken.includes('metrics of w1'));
    const before = proxy.woken.length;
    const newer = mintToken('w1', { lifetimeSeconds: 7200 }).token;
    await proxy.stores.watchers.acceptToken('w1', createHash('sha256').update(newer).digest('hex'));
    await proxy.push([sampleSignal(2)], { token: newer });
    await until(() => proxy.woken.length === before + 2);
    expect(proxy.woken.slice(before).sort()).toEqual(['metrics of w1', 'w1']);
    expect(proxy.woken).not.toContain('metrics of w2');
  });

  it('is refused without a token, over 16 MiB decoded, and in an unknown encoding', async () => {
    for (const path of ['/v1/usage-metrics', '/v3/usage-metrics'])
      expect(await post(path, '{}', { authorization: '' })).toEqual({
        status: 401,
        body: { error: 'Unauthorized', message: 'Unauthorized' },
      });
    const bomb = gzipSync(Buffer.alloc(17 * 1024 * 1024, 0x20));
    expect((await post('/v3/usage-metrics', bomb, { 'content-encoding': 'gzip' })).status).toBe(413);
    expect((await post('/v3/usage-metrics', '{}', { 'content-encoding': 'br2' })).status).toBe(415);
    expect((await post('/v3/usage-metrics', 'x', { 'content-encoding': 'gzip' })).status).toBe(400);
    expect(taken).toEqual([]);
  });

  it('is neither sent nor held while forwarding is off', async () => {
    await proxy.close();
    await upstream.close();
    await begin({ settings: { forwardEnabled: false } });
    expect(await post('/v3/usage-metrics', '{}')).toEqual({ status: 201, body: { success: true } });
    expect(taken).toEqual([]);
  });

  it.each(['/v2/metrics/', '/v3/metrics/'])(
    '%s is passed on while forwarding is off, and not held',
    async (path) => {
      await proxy.close();
      await upstream.close();
      await begin({ settings: { forwardEnabled: false } });
      expect(await post(path, '{"a":1}')).toEqual({ status: 200, body: { message: 'from CAPI' } });
      expect(taken.map(({ url, body }) => [url, String(body)])).toEqual([[path, '{"a":1}']]);
      answer(503);
      expect((await post(path, '{"a":1}')).status).toBe(503);
      expect(await held()).toEqual([]);
    },
  );
});
