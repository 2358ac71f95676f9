import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders, RequestListener, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from '@jest/globals';
import { mintToken } from '../../deploy/stand-in-capi/stand-in-token.js';
import { OPEN_ACCESS, startProxy } from '../api/support/start-proxy.js';
import type { ProxyOptions } from '../api/support/start-proxy.js';
import { startUpstream } from '../api/support/scripted-upstream.js';
import { sampleSignal } from '../support/signal-client.js';
import { until } from '../support/until.js';
import { watchHealth } from './support/health-watch.js';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

function digestOf(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

interface Taken {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** A gateway before a CAPI that takes the tokens on its list and no other. */
async function start(options: ProxyOptions = {}) {
  const good = new Set<string>();
  const taken: Taken[] = [];
  const state = { script: null as RequestListener | null };
  const upstream = await startUpstream((req, res) => {
    if (state.script !== null) return state.script(req, res);
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      const { method = '', url = '', headers } = req;
      taken.push({ method, url, headers, body: Buffer.concat(chunks) });
      const known = good.has((headers.authorization ?? '').replace(/^Bearer /, ''));
      res.writeHead(known ? 200 : 401).end('{"message":"from CAPI"}');
    });
  });
  closers.push(upstream.close);
  const proxy = await startProxy({ capiUrl: upstream.url, ...options });
  closers.push(proxy.close);
  const down = (): void => {
    state.script = (req, res) => void req.resume().on('end', () => res.writeHead(503).end());
  };
  const send = (path: string, body: Buffer | string, headers: Record<string, string> = {}) =>
    proxy.raw('POST', path, {
      headers: {
        'content-type': 'application/json',
        'content-length': String(Buffer.byteLength(body)),
        ...headers,
      },
      body: Buffer.from(body),
    });
  return { good, taken, state, proxy, upstream, down, send };
}

function bearer(token: string) {
  return { authorization: `Bearer ${token}` };
}

const GZIP = { 'content-encoding': 'gzip' };

function cpuMs(since?: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1000;
}

describe('usage metrics that grow when they are unpacked', () => {
  const bomb = gzipSync(`{"remediation_components":[${'{},'.repeat(4_000_000)}{}]}`);
  const paths = ['/v3/metrics/', '/v2/metrics', '/v3/usage-metrics', '/v1/usage-metrics'];

  it.each(paths)('%s: with a token that CAPI took they are refused for their ratio', async (path) => {
    const { proxy, send, taken } = await start();
    const { token } = mintToken('w1');
    await proxy.stores.watchers.acceptToken('w1', digestOf(token));
    const answer = await watchHealth(proxy, () => send(path, bomb, { ...bearer(token), ...GZIP }));
    expect(answer.status).toBe(413);
    expect(taken).toEqual([]);
  });

  it('in a ratio that passes, or plain, they are refused for their number of components', async () => {
    const { proxy, send, taken } = await start();
    const { token } = mintToken('w1');
    await proxy.stores.watchers.acceptToken('w1', digestOf(token));
    const plain = `{"remediation_components":[${'{},'.repeat(4_000_000)}{}]}`;
    const before = process.cpuUsage();
    const answer = await watchHealth(proxy, () => send('/v3/usage-metrics', plain, bearer(token)));
    expect([answer.status, taken.length]).toEqual([413, 0]);
    expect(cpuMs(before)).toBeLessThan(3000);
  });

  it.each(paths)(
    '%s: with another token they go to CAPI as they came, and nothing is stored',
    async (path) => {
      const { proxy, send, taken, down } = await start();
      const { token } = mintToken('w1');
      const headers = { ...bearer(token), ...GZIP };
      expect((await watchHealth(proxy, () => send(path, bomb, headers))).status).toBe(401);
      expect(taken).toHaveLength(1);
      expect(taken[0]!.body.equals(bomb)).toBe(true);
      down();
      expect((await send(path, bomb, headers)).status).toBe(503);
      expect(await proxy.stores.metrics.queues()).toEqual([]);
      expect(await proxy.stores.watchers.list()).toEqual([]);
    },
  );

  it('a token that a page with the status 200 answers does not count as taken', async () => {
    const { proxy, send, state, down } = await start();
    const { token } = mintToken('w1');
    state.script = (req, res) =>
      void req.resume().on('end', () => res.writeHead(200, { 'content-type': 'text/html' }).end('<p>'));
    expect((await send('/v3/usage-metrics', '{}', bearer(token))).status).toBe(200);
    down();
    expect((await send('/v3/usage-metrics', '{"a":1}', bearer(token))).status).toBe(503);
    expect(await proxy.stores.metrics.queues()).toEqual([]);
  });

  it('of one machine that come slowly, or that CAPI leaves waiting, keep out no other machine', async () => {
    const { proxy, send, good, state } = await start();
    const [w1, w2] = [mintToken('w1').token, mintToken('w2').token];
    for (const [watcher, token] of Object.entries({ w1, w2 })) {
      good.add(token);
      await proxy.stores.watchers.acceptToken(watcher, digestOf(token));
    }
    let begun = 0;
    const slow = Array.from({ length: 20 }, () => {
      const { hostname, port } = new URL(proxy.url);
      const socket = connect(Number(port), hostname, () => (begun += 1));
      const lines = [`Authorization: Bearer ${w1}`, 'Content-Type: application/json', 'Content-Length: 1000'];
      socket.write(['POST /v3/usage-metrics HTTP/1.1', 'Host: gateway', ...lines, '', '{'].join('\r\n'));
      return socket;
    });
    try {
      await until('the slow bodies have begun', async () => begun === slow.length);
      expect((await send('/v3/usage-metrics', '{}', bearer(w2))).status).toBe(200);
    } finally {
      for (const socket of slow) socket.destroy();
    }
    const waiting: ServerResponse[] = [];
    state.script = (req, res) => {
      req.resume();
      if (req.headers.authorization === `Bearer ${w1}`) waiting.push(res);
      else res.end('{}');
    };
    const held = [1, 2].map(() => send('/v3/usage-metrics', '{}', bearer(w1)));
    await until('CAPI has two', async () => waiting.length === 2);
    expect((await send('/v3/usage-metrics', '{}', bearer(w1))).status).toBe(503);
    expect((await send('/v3/usage-metrics', '{}', bearer(w2))).status).toBe(200);
    for (const res of waiting) res.end('{}');
    expect((await Promise.all(held)).map(({ status }) => status)).toEqual([200, 200]);
    state.script = null;
    expect((await send('/v3/usage-metrics', '{}', bearer(w1))).status).toBe(200);
  });

  it('a token that CAPI takes with its metrics counts as taken from then on', async () => {
    const { proxy, send, good, down } = await start();
    const { token } = mintToken('w1');
    good.add(token);
    expect((await send('/v3/usage-metrics', '{}', bearer(token))).status).toBe(200);
    down();
    expect((await send('/v3/usage-metrics', '{"a":1}', bearer(token))).status).toBe(200);
    expect(await proxy.stores.metrics.queues()).toMatchObject([{ watcher: 'w1' }]);
  });
});

describe('a watcher that asks for its decisions without end', () => {
  const STREAM = '/v3/decisions/stream?startup=true';

  it('while CAPI is down has two answers made at once, and keeps out no other', async () => {
    const { proxy, send, down } = await start();
    const tokens = { w1: mintToken('w1').token, w2: mintToken('w2').token };
    const { watchers, copies } = proxy.stores;
    for (const [watcher, token] of Object.entries(tokens)) {
      await watchers.acceptToken(watcher, digestOf(token));
      const bytes = gzipSync(JSON.stringify({ version: 'v3', decisions: [] }));
      await copies.write(watcher, 'v3', { bytes, at: new Date(), behind: false }, 0);
    }
    down();
    const read = copies.read.bind(copies);
    const reads: string[] = [];
    let open = (): void => undefined;
    const gate = new Promise<void>((resolve) => (open = resolve));
    copies.read = async (...asked) => {
      reads.push(asked[0]);
      await gate;
      return read(...asked);
    };
    const pull = (watcher: keyof typeof tokens) =>
      proxy.raw('GET', STREAM, { headers: bearer(tokens[watcher]) });
    const refused: (string | undefined)[] = [];
    const asked = Array.from({ length: 20 }, async () => {
      const { status, headers } = await pull('w1');
      if (status === 503) refused.push(headers['retry-after']);
      return status;
    });
    await until('the others are refused', async () => refused.length === 18);
    expect([new Set(refused), reads]).toEqual([new Set(['10']), ['w1']]);
    const other = pull('w2');
    expect((await send('/v3/signals', '[]', bearer(tokens.w1))).status).toBe(200);
    open();
    expect((await Promise.all(asked)).filter((status) => status === 200)).toHaveLength(2);
    expect((await other).status).toBe(200);
    expect((await pull('w1')).status).toBe(200);
  });
});

describe('decision streams that are left unfinished', () => {
  const HALF = Buffer.alloc(7.5 * 1024 * 1024, 0x20);

  it('take the copy of no watcher at another address', async () => {
    const { proxy, state } = await start({ trustedProxies: ['127.0.0.1'] });
    const tokens = Array.from({ length: 9 }, (_, index) => mintToken(`h${index}`).token);
    const unfinished: ServerResponse[] = [];
    state.script = (req, res) => {
      if (tokens.includes((req.headers.authorization ?? '').replace('Bearer ', ''))) {
        unfinished.push(res);
        res.write(HALF);
      } else res.end('{"new":[],"deleted":[]}');
    };
    let received = 0;
    const { hostname, port } = new URL(proxy.url);
    const held = [...tokens, tokens[0]!, tokens[0]!].map((token) => {
      const socket = connect(Number(port), hostname);
      const lines = ['Host: gateway', `Authorization: Bearer ${token}`, 'X-Forwarded-For: 192.0.2.1'];
      socket.write(['GET /v3/decisions/stream?startup=true HTTP/1.1', ...lines, '', ''].join('\r\n'));
      socket.on('data', (chunk) => (received += chunk.length));
      return socket;
    });
    try {
      await until('all are half through', async () => received >= held.length * HALF.length);
      const pull = async (target: string, revision: number): Promise<void> => {
        const headers = { ...bearer(mintToken('w1').token), 'x-forwarded-for': '198.51.100.1' };
        expect((await proxy.raw('GET', target, { headers })).status).toBe(200);
        await until(
          `revision ${revision} is kept`,
          async () => (await proxy.stores.copies.read('w1', 'v3'))?.revision === revision,
        );
      };
      await pull('/v3/decisions/stream?startup=true', 1);
      await pull('/v3/decisions/stream', 2);
    } finally {
      for (const socket of held) socket.destroy();
      for (const res of unfinished) res.destroy();
    }
  });
});

describe('a token that somebody made up', () => {
  const DAY_MS = 24 * 3_600_000;
  const madeUp = mintToken('w1', { lifetimeSeconds: 70 * 365 * 86_400 }).token;

  it.each([false, true])('displaces none that CAPI took; validation %s', async (enabled) => {
    const validation = { ...OPEN_ACCESS.validation, enabled, failClosed: enabled };
    const { proxy, send, good, down } = await start({
      settings: { access: { ...OPEN_ACCESS, validation } },
    });
    const { token } = mintToken('w1');
    good.add(token);
    expect((await send('/v3/usage-metrics', '{}', bearer(token))).status).toBe(200);
    expect((await send('/v3/signals', '[]', bearer(token))).status).toBe(200);
    const holds = async () => (await proxy.stores.watchers.token('w1'))?.token;
    expect(await holds()).toBe(token);
    for (const away of [false, true]) {
      if (away) down();
      for (const path of ['/v3/metrics/', '/v2/metrics', '/v3/usage-metrics', '/v1/usage-metrics'])
        expect((await send(path, '{}', bearer(madeUp))).status).toBeGreaterThanOrEqual(401);
      await send('/v3/signals', JSON.stringify([sampleSignal(1)]), bearer(madeUp));
      expect(await holds()).toBe(token);
    }
    expect(await proxy.stores.metrics.queues()).toEqual([]);
  });

  it.each([
    ['/v3/usage-metrics', '{}'],
    ['/v3/signals', '[]'],
  ])('is not believed when it says that it lasts for decades: %s', async (path, body) => {
    const { proxy, send, down } = await start();
    await proxy.stores.watchers.acceptToken('w1', digestOf(madeUp));
    down();
    expect((await send(path, body, bearer(madeUp))).status).toBe(200);
    const held = await proxy.stores.watchers.get('w1');
    expect(held?.tokenExpiresAt?.getTime()).toBeLessThanOrEqual(Date.now() + DAY_MS);
  });

  it('gives way to the login of the watcher, and does not say when it ends', async () => {
    const { proxy, send, state } = await start();
    await send('/v3/signals', '[]', bearer(madeUp));
    const end = (await proxy.stores.watchers.get('w1'))?.tokenExpiresAt?.getTime() ?? Infinity;
    expect(end).toBeLessThanOrEqual(Date.now() + DAY_MS);
    const { token, expiresAt } = mintToken('w1', { lifetimeSeconds: 600 });
    state.script = (req, res) =>
      void req
        .resume()
        .on('end', () => res.end(JSON.stringify({ code: 200, expire: expiresAt.toISOString(), token })));
    const login = JSON.stringify({ machine_id: 'w1', password: 'p', scenarios: [] });
    expect((await send('/v3/watchers/login', login)).status).toBe(200);
    expect((await proxy.stores.watchers.token('w1'))?.token).toBe(token);
  });
});

describe('logins of machines that somebody made up', () => {
  const LOOPBACK = ['127.0.0.1'];
  const loginOf = (machine: string, password = 'p') =>
    JSON.stringify({ machine_id: machine, password, scenarios: [] });

  /** CAPI lets in machines whose password is `p`. */
  const open = async () => {
    const gateway = await start({ trustedProxies: LOOPBACK });
    const asked: string[] = [];
    let serial = 0;
    gateway.state.script = (req, res) => {
      const chunks: Buffer[] = [];
      req.on('data', (chunk: Buffer) => chunks.push(chunk));
      req.on('end', () => {
        asked.push(req.url ?? '');
        const body = String(Buffer.concat(chunks));
        if (!body.includes('"password":"p"')) return void res.writeHead(403).end('{"message":"no"}');
        const { machine_id: machine } = JSON.parse(body) as { machine_id: string };
        serial += 1;
        const { token, expiresAt } = mintToken(machine, { issuedAt: Date.now() + serial });
        res.end(JSON.stringify({ code: 200, expire: expiresAt.toISOString(), token }));
      });
    };
    const login = async (body: string, from = '192.0.2.1', path = '/v3/watchers/login') =>
      (await gateway.send(path, body, { 'x-forwarded-for': from })).status;
    return { ...gateway, asked, login };
  };

  it('shut out nobody, also while no machine has logged in yet', async () => {
    const { login } = await open();
    for (const name of ['x1', 'x2', 'x3']) expect(await login(loginOf(name, 'wrong'))).toBe(403);
    expect(await login(loginOf('w1'), '198.51.100.1')).toBe(200);
  });

  it('use up the share of their address, and of all such, while others come in', async () => {
    const { login, asked } = await open();
    expect(await login(loginOf('w1'), '198.51.100.1')).toBe(200);
    const statuses: number[] = [];
    for (let index = 0; index < 30; index += 1)
      statuses.push(await login(loginOf(`x${index}`, 'wrong'), `192.0.2.${index % 2}`));
    expect(statuses.filter((status) => status === 403)).toHaveLength(9);
    expect(asked).toHaveLength(10);
    const again = { machine_id: 'w1', password: 'p', scenarios: ['new'] };
    expect(await login(JSON.stringify(again), '198.51.100.1')).toBe(200);
    expect(asked).toHaveLength(11);
  });

  it('leave room for a new machine at another address', async () => {
    const { login } = await open();
    for (let index = 0; index < 30; index += 1) await login(loginOf(`x${index}`, 'wrong'));
    expect(await login(loginOf('w9'), '198.51.100.9')).toBe(200);
    expect(await login(loginOf('w8'))).toBe(429);
  });

  it('are counted however the path is spelt, and what cannot be read as well', async () => {
    const paths = [
      '/v3/%77atchers/login',
      '/v3//watchers/login',
      '/v3/watchers//login',
      '/v3/watchers/login//',
      '/v3/watchers/login/',
      '/v3/Watchers/LOGIN',
      '/v3/watchers%2flogin',
      '/v3/watchers/login;a=b',
    ];
    for (const path of paths) {
      const { login, asked, proxy } = await open();
      expect(await login(loginOf('x1', 'wrong'), '192.0.2.1', path)).toBe(403);
      for (const [index, body] of ['{}', 'nothing', loginOf('a b', 'wrong'), ''].entries())
        await login(body, `192.0.2.${index}`, path);
      expect(new Set(asked.map((url) => url.replace(/\/$/, '')))).toEqual(new Set(['/v3/watchers/login']));
      const shown = (await (await proxy.ask('/api/forwarding')).json()) as { logins: { used: number } };
      expect(shown.logins.used).toBe(asked.length);
      await Promise.all(closers.splice(0).map((close) => close()));
    }
  });

  it('do not pass the list of watchers in any spelling', async () => {
    const access = { ...OPEN_ACCESS, watchers: ['w1'] };
    const { send, taken } = await start({ settings: { access } });
    for (const path of ['/v3/%77atchers/login', '/v3//watchers/login', '/v3/watchers/login//'])
      expect((await send(path, loginOf('x1'), bearer(mintToken('w1').token))).status).toBe(403);
    expect(taken).toEqual([]);
  });
});

describe('signals of millions of items', () => {
  it('are refused without noting each of them', async () => {
    const { proxy, send } = await start();
    const body = gzipSync(`[${'1,'.repeat(5_000_000)}1]`);
    const { token } = mintToken('w1');
    const before = process.memoryUsage().rss;
    const answer = await watchHealth(proxy, () => send('/v3/signals', body, { ...bearer(token), ...GZIP }));
    expect(answer.status).toBe(413);
    expect(process.memoryUsage().rss - before).toBeLessThan(200 * 1024 * 1024);
  });
});
