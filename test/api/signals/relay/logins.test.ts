import { once } from 'node:events';
import { createServer } from 'node:http';
import type { RequestListener } from 'node:http';
import { afterEach, describe, expect, it } from '@jest/globals';
import { mintToken } from '../../../../deploy/stand-in-capi/stand-in-token.js';
import { OPEN_ACCESS, startProxy } from '../../support/start-proxy.js';
import type { ProxyOptions } from '../../support/start-proxy.js';
import { endServer } from '../../../support/loopback-server.js';
import { startUpstream } from '../../support/scripted-upstream.js';

const T0 = Date.UTC(2026, 10, 21, 8);
const MINUTE = 60_000;
const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** CAPI answers logins by a script, or with tokens that are good for an hour. */
async function start(options: ProxyOptions = {}) {
  const state = { clock: T0, script: null as RequestListener | null, serial: 0 };
  const upstream = await startUpstream((req, res) => {
    if (state.script !== null) return state.script(req, res);
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      if (!req.url!.includes('/login')) return void res.writeHead(401).end('{"message":"no"}');
      const { machine_id: watcher } = JSON.parse(String(Buffer.concat(chunks))) as { machine_id: string };
      state.serial += 1;
      const { token, expiresAt } = mintToken(watcher, { issuedAt: state.clock + state.serial });
      res.end(JSON.stringify({ code: 200, expire: expiresAt.toISOString(), token }));
    });
  });
  closers.push(upstream.close);
  const proxy = await startProxy({ capiUrl: upstream.url, now: () => new Date(state.clock), ...options });
  closers.push(proxy.close);
  const login = async (machineId = 'w1', { password = 'secret', scenarios = ['a'], version = 'v3' } = {}) => {
    const response = await fetch(`${proxy.url}/${version}/watchers/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ machine_id: machineId, password, scenarios }),
    });
    const { headers, status } = response;
    const body = (await response.json().catch(() => null)) as {
      token?: string;
      expire?: string;
      message?: string;
    };
    return { status, body, how: headers.get('x-tamis-login'), retryAfter: headers.get('retry-after') };
  };
  const asked = () => upstream.seen.length;
  const fail = (status: number, headers: Record<string, string> = {}): void => {
    state.script = (req, res) => {
      req.resume();
      res.writeHead(status, headers).end('{"message":"Forbidden"}');
    };
  };
  return { state, upstream, proxy, login, asked, fail };
}

describe('a login whose token is still good', () => {
  it('gets it again: same watcher, password and scenarios, in any order and on any version', async () => {
    const { login, asked } = await start();
    const first = await login('w1', { scenarios: ['a', 'b'] });
    const again = await login('w1', { scenarios: ['b', 'a', 'b'], version: 'v2' });
    expect(again).toMatchObject({ status: 200, how: 'reused', body: { code: 200, token: first.body.token } });
    expect(Date.parse(again.body.expire!)).toBe(T0 + 3_600_000);
    expect(asked()).toBe(1);
  });

  it.each([
    ['another password', { password: 'Secret' }],
    ['other scenarios', { scenarios: ['a', 'c'] }],
    ['none', { scenarios: [] }],
  ])('with %s it goes to CAPI', async (_what, changes) => {
    const { login, asked } = await start();
    const first = await login();
    const second = await login('w1', changes);
    expect([second.status, second.how, asked()]).toEqual([200, null, 2]);
    expect(second.body.token).not.toBe(first.body.token);
  });

  it('goes to CAPI near its end, and where CAPI refused the token', async () => {
    const { state, login, asked, proxy } = await start();
    await login();
    state.clock += 56 * MINUTE;
    const second = await login();
    expect([second.how, asked()]).toEqual([null, 2]);
    // The watcher itself meets the refusal, not at the signals.
    await proxy.raw('GET', '/v3/decisions/stream', {
      headers: { authorization: `Bearer ${second.body.token}` },
    });
    const third = await login();
    expect([third.status, third.how, asked()]).toEqual([200, null, 4]);
    expect(third.body.token).not.toBe(second.body.token);
  });

  it.each([
    ['GET', '/v3/decisions/stream'],
    ['POST', '/v3/metrics/'],
    ['POST', '/v1/usage-metrics'],
    ['POST', '/v3/signals'],
  ])('refused at %s %s it is not given out again, however soon the login comes', async (method, path) => {
    const { login, asked, proxy } = await start({
      settings: { access: { ...OPEN_ACCESS, validation: { ...OPEN_ACCESS.validation, enabled: true } } },
      adapt: ({ watchers }) => ({
        watchers: {
          ...watchers,
          // The client logs in while a slow store would still be busy with the refusal.
          refuseToken: async (watcher, digest) => {
            await new Promise((resolve) => setTimeout(resolve, 100));
            await watchers.refuseToken(watcher, digest);
          },
        },
      }),
    });
    const first = await login();
    const answer = await proxy.raw(method, path, {
      headers: {
        authorization: `Bearer ${first.body.token}`,
        'content-type': 'application/json',
        ...(method === 'GET' ? {} : { 'content-length': '2' }),
      },
      ...(method === 'GET' ? {} : { body: Buffer.from('[]') }),
    });
    expect(answer.status).toBe(401);
    const second = await login();
    expect([second.status, second.how, asked()]).toEqual([200, null, 3]);
    expect(second.body.token).not.toBe(first.body.token);
  });

  it('is answered at the very login that CAPI shuts out', async () => {
    const { login, fail, asked } = await start();
    const first = await login('w1', { scenarios: ['a'] });
    fail(429, { 'retry-after': '120' });
    expect(await login('w1', { scenarios: ['new'] })).toMatchObject({
      status: 200,
      how: 'reused',
      body: { token: first.body.token },
    });
    expect((await login('w2')).how).toBe('held');
    expect(asked()).toBe(2);
  });

  it('is answered while CAPI is away or fails, but for another password', async () => {
    const { state, login, fail, upstream } = await start();
    const first = await login('w1', { scenarios: ['a'] });
    for (const status of [503, 520]) {
      fail(status);
      expect(await login('w1', { scenarios: ['new'] })).toMatchObject({
        status: 200,
        how: 'reused',
        body: { token: first.body.token },
      });
    }
    expect((await login('w1', { password: 'wrong', scenarios: ['new'] })).status).toBe(520);
    await upstream.close();
    closers.splice(0, 1);
    state.clock += 57 * MINUTE;
    expect((await login()).how).toBe('reused');
    state.clock += 2 * MINUTE;
    expect((await login()).status).toBe(502);
  });
});

describe('a page of what stands before CAPI, with the status of an accepted login,', () => {
  const PAGE = { 'content-type': 'text/html; charset=utf-8' };

  it('is no answer where a token is still good, and lets no unknown machine in', async () => {
    const { state, login, fail } = await start();
    const first = await login('w1');
    fail(200, PAGE);
    // Other scenarios: the login is passed on.
    const again = await login('w1', { scenarios: ['b'] });
    expect([again.status, again.how, again.body.token]).toEqual([200, 'reused', first.body.token]);
    expect((await login('w2')).how).toBeNull();
    const statuses: number[] = [];
    for (let index = 0; index < 30; index += 1) statuses.push((await login(`x${index}`)).status);
    expect(statuses).toContain(429);
    state.script = null;
    expect((await login('w1', { scenarios: ['c'] })).how).toBeNull();
  });
});

describe('the budget of logins', () => {
  it('a refusal names the share that is used up: a third for an address of machines that were never let in', async () => {
    const { login, fail } = await start({ settings: { loginBudget: 9 } });
    fail(401);
    for (let index = 0; index < 3; index += 1)
      expect((await login(`made-up-${index}`, { password: 'no' })).status).toBe(401);
    const next = await login('made-up-3', { password: 'no' });
    expect(next.status).toBe(429);
    expect(next.body.message).toContain('Too many logins: 3 have been passed on');
  });

  it('is kept over all watchers; then what is still good is given out, and the rest told to wait', async () => {
    const { state, login, asked } = await start({ settings: { loginBudget: 2 } });
    const first = await login('w1');
    await login('w2');
    const third = await login('w3');
    expect(third).toMatchObject({ status: 429, how: 'held', retryAfter: '3000' });
    expect(third.body.message).toContain('Too many logins: 2');
    expect((await login('w1', { scenarios: ['x'] })).body.token).toBe(first.body.token);
    expect(asked()).toBe(2);
    state.clock += 50 * MINUTE;
    expect((await login('w3')).status).toBe(200);
  });

  it('counts no login that never reached CAPI, and each that CAPI may have had', async () => {
    const { state, login, asked, upstream, proxy } = await start({ timeoutMs: 1_000 });
    const used = async () =>
      ((await (await proxy.ask('/api/forwarding')).json()) as { logins: { used: number } }).logins.used;
    await login('known');
    state.clock += 61 * MINUTE;
    const { port } = new URL(upstream.url);
    await upstream.close();
    closers.splice(0, 1);
    for (let turn = 0; turn < 10; turn += 1)
      expect([(await login('known')).status, (await login('new')).status]).toEqual([502, 502]);
    expect(await used()).toBe(0);
    const silent = createServer((req) => void req.resume()).listen(Number(port), '127.0.0.1');
    await once(silent, 'listening');
    closers.push(() => endServer(silent));
    for (let turn = 0; turn < 2; turn += 1) expect((await login('known')).status).toBe(502);
    expect([await used(), asked()]).toEqual([2, 1]);
  });

  it('does not hold the next login of a machine for which an operator says so', async () => {
    const { login, proxy, asked } = await start({ settings: { loginBudget: 2 } });
    await login('w1');
    await login('w2');
    await proxy.stores.watchers.recordSuccess('w3', new Date(T0));
    const other = { password: 'other' };
    expect([(await login('w3')).status, (await login('w3', other)).status]).toEqual([429, 429]);
    expect((await proxy.ask('/api/forwarding/w3/retry', { method: 'POST' })).status).toBe(200);
    expect((await login('w4')).status).toBe(429);
    expect((await login('w3')).status).toBe(200);
    expect([(await login('w3', other)).status, asked()]).toEqual([429, 3]);
  });

  it.each([
    ['ends with a login of the machine that CAPI takes', 0, 'w3', 'w1'],
    ['ends after a window of the budget', 50, 'w1', 'w2'],
  ])('such an exemption %s', async (_what, minutes, first, second) => {
    const { state, login, proxy, asked } = await start({ settings: { loginBudget: 2 } });
    await proxy.stores.watchers.recordSuccess('w3', new Date(T0));
    expect((await proxy.ask('/api/forwarding/w3/retry', { method: 'POST' })).status).toBe(200);
    state.clock += minutes * MINUTE;
    for (const one of [first, second]) expect((await login(one)).status).toBe(200);
    expect([(await login('w3', { password: 'any' })).status, asked()]).toEqual([429, 2]);
  });

  it('such an exemption is not used up by a login that never reached CAPI', async () => {
    const { login, proxy, upstream } = await start({ settings: { loginBudget: 2 }, timeoutMs: 1_000 });
    await login('w1');
    await login('w2');
    await proxy.stores.watchers.recordSuccess('w3', new Date(T0));
    expect((await proxy.ask('/api/forwarding/w3/retry', { method: 'POST' })).status).toBe(200);
    const { port } = new URL(upstream.url);
    await upstream.close();
    closers.splice(0, 1);
    expect((await login('w3')).status).toBe(502);
    const { token, expiresAt } = mintToken('w3', { issuedAt: T0 });
    const back = createServer((req, res) => {
      req.resume();
      res.end(JSON.stringify({ code: 200, expire: expiresAt.toISOString(), token }));
    }).listen(Number(port), '127.0.0.1');
    await once(back, 'listening');
    closers.push(() => endServer(back));
    const wrong = { password: 'any' };
    expect([(await login('w3')).status, (await login('w3', wrong)).status]).toEqual([200, 429]);
  });

  it('is not used up by machines whose token is good, whatever scenarios they name', async () => {
    const { state, login, asked } = await start();
    expect((await login('w9')).status).toBe(200);
    // Its token is about to end; those of the others begin.
    state.clock += 3_590_000;
    const others = ['w1', 'w2', 'w3'];
    for (const name of others) expect((await login(name)).status).toBe(200);
    for (let index = 0; index < 18; index += 1)
      expect((await login(others[index % 3], { scenarios: [`new-${index}`] })).status).toBe(200);
    expect(asked()).toBe(1 + 3 + 6);
    expect(await login('w9')).toMatchObject({ status: 200, how: null });
  });

  it('0 is no budget', async () => {
    const { login, asked } = await start({ settings: { loginBudget: 0 } });
    for (let i = 0; i < 25; i += 1) expect((await login(`w${i}`)).status).toBe(200);
    expect(asked()).toBe(25);
  });
});

describe('a block of CAPI', () => {
  it('after a 429 nobody knocks until it is over, and it is shown', async () => {
    const { state, login, asked, fail, proxy } = await start();
    fail(429, { 'retry-after': '120' });
    const first = await login('w1');
    expect([first.status, first.retryAfter, first.how]).toEqual([429, '120', null]);
    expect(await login('w2')).toMatchObject({ status: 429, retryAfter: '120', how: 'held' });
    expect(asked()).toBe(1);
    const shown = (await (await proxy.ask('/api/forwarding')).json()) as { logins: object };
    expect(shown.logins).toEqual({
      budget: 18,
      windowMinutes: 50,
      used: 1,
      blocks: [
        {
          watcher: null,
          status: 429,
          message: 'CAPI answered 429 to a login',
          at: new Date(T0).toISOString(),
          until: new Date(T0 + 120_000).toISOString(),
        },
      ],
      refused: ['w2', 'w1'].map((watcher) => ({
        watcher,
        status: 429,
        message: 'CAPI answered 429 to a login',
        at: new Date(T0).toISOString(),
      })),
    });
    state.clock += 121_000;
    state.script = null;
    expect((await login('w2')).status).toBe(200);
  });

  it('a 403 holds that watcher with that password, for an hour; a mended password goes through', async () => {
    const { state, login, asked, fail } = await start();
    fail(403);
    await login('w1', { password: 'wrong' });
    expect(await login('w1', { password: 'wrong' })).toMatchObject({ status: 403, retryAfter: '3600' });
    expect(asked()).toBe(1);
    state.script = null;
    expect((await login('w2')).status).toBe(200);
    expect((await login('w1', { password: 'wrong' })).status).toBe(403);
    expect((await login('w1', { password: 'mended' })).status).toBe(200);
  });

  it('403 for two watchers is about our address, until one is let in or an operator says so', async () => {
    const { state, login, asked, fail, proxy } = await start();
    await login('w1');
    await login('w2');
    state.clock += 30 * MINUTE;
    await login('w3');
    state.clock += 29 * MINUTE;
    fail(403);
    expect([(await login('w1')).status, (await login('w2')).status]).toEqual([403, 403]);
    state.script = null;
    expect((await login('w4')).status).toBe(403);
    // Who still has a token is not bothered.
    expect((await login('w3', { scenarios: ['new'] })).how).toBe('reused');
    expect(asked()).toBe(5);
    await proxy.stores.watchers.recordSuccess('w1', new Date(T0));
    expect((await proxy.ask('/api/forwarding/w1/retry', { method: 'POST' })).status).toBe(200);
    expect((await login('w4')).status).toBe(200);
  });
});

describe('refused logins', () => {
  interface Refused {
    logins: { refused: { watcher: string; status: number; message: string; at: string }[] };
  }

  it('are listed until the machine is let in: by CAPI or here, unknown ones displacing none', async () => {
    const { state, login, fail, proxy } = await start({ settings: { loginBudget: 6 } });
    const listed = async () =>
      ((await (await proxy.ask('/api/forwarding')).json()) as Refused).logins.refused;
    await login('real');
    expect(await listed()).toEqual([]);
    fail(401);
    await login('wrong');
    expect(await listed()).toMatchObject([
      { watcher: 'wrong', status: 401, message: 'CAPI answered 401 to a login' },
    ]);
    state.script = null;
    for (let index = 0; index < 5; index += 1) await login(`other-${index}`);
    // Its token has ended, and others have used up the budget.
    state.clock += 61 * MINUTE;
    for (let index = 0; index < 70; index += 1) await login(`made-up-${index}`, { password: 'no' });
    expect((await login('real')).status).toBe(429);
    const refused = await listed();
    expect(refused.find(({ watcher }) => watcher === 'real')).toEqual({
      watcher: 'real',
      status: 429,
      at: new Date(state.clock).toISOString(),
      message: expect.stringMatching(/^Too many logins: 6 have been passed on/),
    });
    expect(refused.length).toBeLessThanOrEqual(51);
    expect(refused.filter(({ watcher }) => watcher.startsWith('made-up')).length).toBeGreaterThan(30);
    expect(refused.map(({ watcher }) => watcher)).toContain('made-up-69');
    await proxy.ask('/api/forwarding/real/retry', { method: 'POST' });
    state.clock += 61 * MINUTE;
    expect((await login('real')).status).toBe(200);
    expect((await listed()).map(({ watcher }) => watcher)).not.toContain('real');
    state.clock += 24 * 60 * MINUTE;
    expect(await listed()).toEqual([]);
  });
});

describe('logins of machines that somebody made up', () => {
  it('shut nobody else out', async () => {
    const { state, login, fail } = await start();
    await login('w1');
    fail(403);
    for (let index = 0; index < 5; index += 1) expect((await login(`made-up-${index}`)).status).toBe(403);
    state.script = null;
    expect(await login('w2')).toMatchObject({ status: 200, how: null });
  });
});

describe('a login that cannot be looked up', () => {
  it('goes to CAPI', async () => {
    const broken = () => Promise.reject(new Error('the store is away'));
    const { login, asked } = await start({
      adapt: ({ logins }) => ({ logins: { ...logins, recall: broken, reserve: broken, remember: broken } }),
    });
    expect((await login()).status).toBe(200);
    expect((await login()).status).toBe(200);
    expect(asked()).toBe(2);
  });
});
