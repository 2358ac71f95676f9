import { afterEach, describe, expect, it } from '@jest/globals';
import { mintToken } from '../../../../deploy/stand-in-capi/stand-in-token.js';
import { sha256Hex } from '../../../../schemas/sha256.js';
import { sampleSignal } from '../../../support/signal-client.js';
import { OPEN_ACCESS, startProxy } from '../../support/start-proxy.js';
import { startUpstream } from '../../support/scripted-upstream.js';

type Access = typeof OPEN_ACCESS;
const T0 = Date.UTC(2026, 10, 21, 8);
const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function start(
  access: Omit<Partial<Access>, 'validation'>,
  validation: Partial<Access['validation']> = {},
  trustedProxies: string[] = [],
) {
  const state: { clock: number; status: number; page?: string } = { clock: T0, status: 200 };
  const upstream = await startUpstream((req, res) => {
    req.resume().on('end', () => {
      if (state.page === undefined) res.writeHead(state.status).end('{"message":"from CAPI"}');
      else res.writeHead(state.status, { 'content-type': 'text/html' }).end(state.page);
    });
  });
  closers.push(upstream.close);
  const settings = {
    access: { ...OPEN_ACCESS, ...access, validation: { ...OPEN_ACCESS.validation, ...validation } },
  };
  const proxy = await startProxy({
    capiUrl: upstream.url,
    settings,
    trustedProxies,
    now: () => new Date(state.clock),
  });
  closers.push(proxy.close);
  const stored = async () => (await proxy.stores.alerts.list({ limit: 100, offset: 0 })).length;
  return { state, upstream, proxy, stored };
}

function tokenOf(watcher: string, lifetimeSeconds = 3600): string {
  return mintToken(watcher, { issuedAt: T0, lifetimeSeconds }).token;
}

describe('the list of networks', () => {
  it.each([
    [['127.0.0.0/8', '::1'], 200],
    [['127.0.0.1'], 200],
    [['10.0.0.0/8', '2001:db8::/32'], 403],
    [[], 403],
  ])('%j: %i', async (networks, status) => {
    const { proxy, upstream, stored } = await start({ networks });
    const signals = await proxy.push([sampleSignal(1)], { token: tokenOf('w1') });
    const metrics = await proxy.push({}, { path: '/v1/usage-metrics' });
    const other = await proxy.push({ machine_id: 'w1', password: 'p' }, { path: '/v3/watchers/login' });
    expect([signals.status, metrics.status, other.status]).toEqual([status, status, status]);
    if (status === 200) return;
    expect(await signals.json()).toEqual({
      error: 'Forbidden',
      message: 'Requests from this network are not allowed',
    });
    expect([await stored(), upstream.seen]).toEqual([0, []]);
    // Dashboards have a key of their own.
    expect((await proxy.ask('/api/alerts')).status).toBe(200);
  });
});

describe('the list of networks behind a trusted proxy', () => {
  it.each([
    ['10.1.2.3', ['10.0.0.0/8'], 200],
    ['2001:db8::7', ['2001:db8::7'], 200],
    ['10.1.2.3', ['127.0.0.0/8'], 403],
    // What the client itself put in front decides nothing.
    ['10.1.2.3, 192.0.2.1', ['10.0.0.0/8'], 403],
  ])('%s, %j: %i', async (forwarded, networks, status) => {
    const { proxy } = await start({ networks }, {}, ['127.0.0.1']);
    const headers = { 'x-forwarded-for': forwarded };
    const answer = await proxy.push([sampleSignal(1)], { token: tokenOf('w1'), headers });
    expect(answer.status).toBe(status);
  });
});

describe('the list of watchers', () => {
  it('lets in who is on it, and nobody else, by token and by login', async () => {
    const { proxy, upstream, stored } = await start({ watchers: ['w1'] });
    expect((await proxy.push([sampleSignal(1)], { token: tokenOf('w1') })).status).toBe(200);
    const login = (machineId: string) =>
      proxy.push({ machine_id: machineId, password: 'p' }, { path: '/v3/watchers/login' });
    expect((await login('w1')).status).toBe(200);
    const before = upstream.seen.length;
    for (const answer of [
      await proxy.push([sampleSignal(2)], { token: tokenOf('w2') }),
      await proxy.push([sampleSignal(2)], { token: 'opaque' }),
      await proxy.push({}, { path: '/v3/metrics', token: tokenOf('w2') }),
      await proxy.push('{}', { path: '/v3/watchers/login' }),
      await login('w2'),
    ])
      expect([answer.status, await answer.json()]).toEqual([
        403,
        { error: 'Forbidden', message: 'This watcher is not allowed' },
      ]);
    expect([await stored(), upstream.seen.length]).toEqual([1, before]);
  });
});

describe('client validation', () => {
  const enabled = true;
  const REFUSED = { error: 'Unauthorized', message: 'Client validation failed' };

  it('asks CAPI with an empty batch, on the version spoken, and again when its word has worn out', async () => {
    const { state, proxy, upstream, stored } = await start({}, { enabled, ttlMs: 60_000 });
    const push = () => proxy.push([sampleSignal(1)], { token: tokenOf('w1'), path: '/v2/signals' });
    expect((await push()).status).toBe(200);
    expect((await push()).status).toBe(200);
    expect(upstream.seen).toMatchObject([
      { method: 'POST', url: '/v2/signals', headers: { authorization: `Bearer ${tokenOf('w1')}` } },
    ]);
    state.clock += 61_000;
    expect((await push()).status).toBe(200);
    expect([upstream.seen.length, await stored()]).toEqual([2, 3]);
  });

  it.each([401, 403])(
    '%i: the signals are refused and not stored, and it is asked each time',
    async (status) => {
      const { state, proxy, upstream, stored } = await start({}, { enabled });
      state.status = status;
      for (let i = 0; i < 2; i += 1) {
        const answer = await proxy.push([sampleSignal(1)], { token: tokenOf('w1') });
        expect([answer.status, await answer.json()]).toEqual([401, REFUSED]);
      }
      expect([upstream.seen.length, await stored()]).toEqual([2, 0]);
    },
  );

  it.each([
    ['/v1/usage-metrics', '/v3/signals'],
    ['/v3/usage-metrics', '/v3/signals'],
    ['/v3/metrics/', '/v3/signals'],
    ['/v2/metrics', '/v2/signals'],
  ])('holds for %s as well', async (path, asked) => {
    const { state, proxy, upstream } = await start({}, { enabled });
    expect((await proxy.push({}, { path, token: tokenOf('w1') })).status).toBe(200);
    const at = path
      .replace('/v1/', '/v3/')
      .replace(/metrics$/, (name) => (path === '/v2/metrics' ? `${name}/` : name));
    expect(upstream.seen.map(({ url }) => url)).toEqual([asked, at]);
    state.status = 403;
    const refused = await proxy.push({}, { path, token: tokenOf('w2') });
    expect([refused.status, await refused.json()]).toEqual([401, REFUSED]);
    // With CAPI away nobody fills our store with a token that has ended.
    state.status = 503;
    state.clock += 3_600_000;
    expect((await proxy.push({}, { path, token: tokenOf('w1') })).status).toBe(401);
    expect(await proxy.stores.metrics.queues()).toEqual([]);
  });

  it('a token that has ended is refused without asking, whatever was remembered of it', async () => {
    const { state, proxy, upstream } = await start({}, { enabled });
    const token = tokenOf('w1', 60);
    expect((await proxy.push([sampleSignal(1)], { token })).status).toBe(200);
    state.clock += 60_000;
    expect((await proxy.push([sampleSignal(1)], { token })).status).toBe(401);
    expect(upstream.seen).toHaveLength(1);
  });

  it.each([
    [false, 200],
    [true, 401],
  ])('without an answer of CAPI, fail closed %s: %i', async (failClosed, status) => {
    const { state, proxy, upstream } = await start({}, { enabled, failClosed, ttlOnErrorMs: 1000 });
    state.status = 503;
    const push = () => proxy.push([sampleSignal(1)], { token: tokenOf('w1') });
    expect([(await push()).status, (await push()).status]).toEqual([status, status]);
    expect(upstream.seen).toHaveLength(failClosed ? 2 : 1);
    await upstream.close();
    closers.splice(0, 1);
    state.clock += 2000;
    expect((await push()).status).toBe(status);
  });

  it.each([403, 503])('%i: a token that CAPI took before is good, also fail closed', async (status) => {
    const { state, proxy, stored } = await start({}, { enabled, failClosed: true });
    state.status = status;
    // As a login, or another gateway, has noted it.
    await proxy.stores.watchers.acceptToken('w1', sha256Hex(tokenOf('w1')));
    expect((await proxy.push([sampleSignal(1)], { token: tokenOf('w1') })).status).toBe(200);
    const other = mintToken('w1', { issuedAt: T0 + 5000, lifetimeSeconds: 3600 }).token;
    expect((await proxy.push([sampleSignal(2)], { token: other })).status).toBe(401);
    expect(await stored()).toBe(1);
  });

  it('a token that CAPI has refused since is refused, though its yes is remembered', async () => {
    const { proxy, upstream, stored } = await start({}, { enabled });
    const push = () => proxy.push([sampleSignal(1)], { token: tokenOf('w1') });
    expect((await push()).status).toBe(200);
    await proxy.stores.watchers.refuseToken('w1', sha256Hex(tokenOf('w1')));
    const answer = await push();
    expect([answer.status, await answer.json()]).toEqual([401, REFUSED]);
    expect([upstream.seen.length, await stored()]).toEqual([1, 1]);
  });

  it.each([
    [false, 200],
    [true, 401],
  ])(
    "a portal's page with status 200 is no answer of CAPI, fail closed %s: %i",
    async (failClosed, status) => {
      const { state, proxy, upstream } = await start({}, { enabled, failClosed, ttlOnErrorMs: 1000 });
      state.page = '<html>Please sign in</html>';
      const push = () => proxy.push([sampleSignal(1)], { token: tokenOf('w1') });
      expect((await push()).status).toBe(status);
      const { watchers } = proxy.stores;
      expect(await watchers.standing('w1', sha256Hex(tokenOf('w1')))).toBe('unknown');
      delete state.page;
      state.status = 401;
      state.clock += 2000;
      expect((await push()).status).toBe(401);
      expect(upstream.seen).toHaveLength(2);
    },
  );

  it('remembers no more tokens than it may', async () => {
    const { proxy, upstream } = await start({}, { enabled, maxEntries: 2 });
    for (const watcher of ['a', 'b', 'c', 'c', 'b', 'a'])
      await proxy.push([sampleSignal(1)], { token: tokenOf(watcher) });
    expect(upstream.seen).toHaveLength(4);
  });
});
