import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:http';
import type { IncomingMessage, RequestListener } from 'node:http';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createStandInCapi } from '../../../../deploy/stand-in-capi/create-stand-in-capi.js';
import { mintToken } from '../../../../deploy/stand-in-capi/stand-in-token.js';
import { sampleSignal, signalClient } from '../../../support/signal-client.js';
import { startProxy } from '../../support/start-proxy.js';
import type { Proxy, ProxyOptions } from '../../support/start-proxy.js';
import { startUpstream } from '../../support/scripted-upstream.js';
import { until } from '../../support/uploads.js';

const MIB = 1024 * 1024;

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function start(script: RequestListener, options: ProxyOptions = {}) {
  const upstream = await startUpstream(script);
  closers.push(upstream.close);
  const proxy = await startProxy({ capiUrl: upstream.url, ...options });
  closers.push(proxy.close);
  return { upstream, proxy };
}

async function read(stream: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function respond(
  status: number,
  headers: Record<string, string | string[]>,
  body: string | Buffer = '',
): RequestListener {
  return (req, res) => {
    req.resume();
    res.writeHead(status, headers).end(body);
  };
}

/** Opens a POST and leaves it open. */
function open(proxy: Proxy, path: string) {
  const { hostname, port } = new URL(proxy.url);
  const sent = request({ hostname, port, path, method: 'POST', agent: false });
  sent.on('error', () => {});
  return sent;
}

describe('everything else under /v2/ and /v3/', () => {
  it.each([
    ['GET', '/v3/decisions/stream?startup=true&x=%20%2B'],
    ['POST', '/v2/metrics/'],
    ['DELETE', '/v3/watchers/self'],
    ['PUT', '/v2/a'],
    ['PATCH', '/v2/a/b//c'],
    ['OPTIONS', '/v3/anything'],
    ['POST', '/v3/signals/feedback'],
    ['GET', '/v3/'],
    ['GET', '/v3/files/a%2Fb?u=http://evil.example/../x'],
  ])('passes %s %s on as it is', async (method, path) => {
    const { upstream, proxy } = await start(respond(207, { 'content-type': 'text/x; a=b' }, 'said'));
    const answer = await proxy.raw(method, path);
    expect(upstream.seen).toMatchObject([
      { method, url: path, headers: { host: new URL(upstream.url).host } },
    ]);
    expect([answer.status, answer.headers['content-type'], answer.body.toString()]).toEqual([
      207,
      'text/x; a=b',
      'said',
    ]);
  });

  it('passes HEAD on, and its length back', async () => {
    const { upstream, proxy } = await start(respond(200, { 'content-length': '1234' }));
    const answer = await proxy.raw('HEAD', '/v3/blocklist');
    expect([upstream.seen[0]?.method, answer.status, answer.headers['content-length']]).toEqual([
      'HEAD',
      200,
      '1234',
    ]);
  });

  it('keeps the headers of the protocol both ways, and no others', async () => {
    const { upstream, proxy } = await start(
      respond(304, {
        etag: '"1"',
        'retry-after': '7',
        'x-ratelimit-remaining': '3',
        'set-cookie': ['a=1', 'b=2'],
        'content-security-policy': 'none',
        'x-frame-options': 'ALLOWALL',
        'x-powered-by': 'CAPI',
        'access-control-allow-origin': '*',
        'strict-transport-security': 'max-age=0',
        connection: 'keep-alive, x-hop',
        'x-hop': 'secret',
        'keep-alive': 'timeout=9',
      }),
    );
    const answer = await proxy.raw('GET', '/v3/decisions/stream', {
      headers: {
        authorization: 'Bearer t',
        'user-agent': 'crowdsec/1.7.8',
        'if-modified-since': 'yesterday',
        accept: 'x/y',
        'accept-encoding': 'gzip',
        'x-own': ['1', '2'],
        cookie: 'session=1',
        'x-api-key': 'secret',
        'x-forwarded-for': '10.0.0.1',
        forwarded: 'for=10.0.0.1',
        connection: 'close, x-mine',
        'x-mine': '1',
        te: 'trailers',
        'proxy-authorization': 'secret',
      },
    });
    expect(upstream.seen[0]?.headers).toMatchObject({
      authorization: 'Bearer t',
      'user-agent': 'crowdsec/1.7.8',
      'if-modified-since': 'yesterday',
      accept: 'x/y',
      'accept-encoding': 'gzip',
    });
    for (const name of [
      'x-mine',
      'te',
      'proxy-authorization',
      'x-own',
      'cookie',
      'x-api-key',
      'x-forwarded-for',
      'forwarded',
    ])
      expect(upstream.seen[0]?.headers).not.toHaveProperty(name);
    expect(answer.status).toBe(304);
    expect(answer.headers).toMatchObject({
      etag: '"1"',
      'retry-after': '7',
      'x-ratelimit-remaining': '3',
    });
    for (const name of ['x-hop', 'set-cookie', 'x-powered-by', 'access-control-allow-origin'])
      expect(answer.headers).not.toHaveProperty(name);
    expect(answer.headers['content-security-policy']).not.toBe('none');
    expect(answer.headers['x-frame-options']).not.toBe('ALLOWALL');
    expect(answer.headers['strict-transport-security']).not.toBe('max-age=0');
    expect(answer.headers['keep-alive']).not.toBe('timeout=9');
  });

  it('hands bodies on as they are encoded', async () => {
    const packed = gzipSync('{"new":[]}');
    let received: Buffer = Buffer.alloc(0);
    const { proxy } = await start(async (req, res) => {
      received = await read(req);
      res.writeHead(200, { 'content-encoding': 'gzip', 'content-length': packed.length }).end(packed);
    });
    const answer = await proxy.raw('POST', '/v3/decisions/sync', {
      headers: { 'content-encoding': 'gzip', 'content-length': String(packed.length) },
      body: packed,
    });
    expect(received.equals(packed)).toBe(true);
    expect(answer.headers).toMatchObject({
      'content-encoding': 'gzip',
      'content-length': `${packed.length}`,
    });
    expect(answer.body.equals(packed)).toBe(true);
  });

  it('streams both ways: CAPI may answer while the client still sends', async () => {
    const { proxy } = await start((req, res) => {
      res.writeHead(200);
      req.pipe(res);
    });
    const sent = open(proxy, '/v3/echo');
    sent.write('first');
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    const [chunk] = (await once(answer, 'data')) as [Buffer];
    expect(chunk.toString()).toBe('first');

    // And 20 MiB through it, chunk by chunk.
    const hash = createHash('sha256');
    const expected = createHash('sha256').update('first');
    hash.update(chunk);
    answer.on('data', (chunk: Buffer) => hash.update(chunk));
    for (let i = 0; i < 20; i += 1) {
      const mebibyte = Buffer.alloc(MIB, i);
      expected.update(mebibyte);
      if (!sent.write(mebibyte)) await once(sent, 'drain');
    }
    sent.end();
    await once(answer, 'end');
    expect(hash.digest('hex')).toBe(expected.digest('hex'));
  });

  it('keeps no more of a large body than a slow reader lets through', async () => {
    let taken = 0;
    let go = (): void => {};
    const { proxy } = await start((req, res) => {
      req.pause();
      go = () =>
        void req
          .on('data', (chunk: Buffer) => {
            taken += chunk.length;
          })
          .once('end', () => res.end('done'))
          .resume();
    });
    const sent = open(proxy, '/v3/decisions/sync');
    let offered = 0;
    const stuck = await new Promise<boolean>((resolve) => {
      const more = (): void => {
        while (offered < 40 * MIB) {
          offered += MIB;
          if (sent.write(Buffer.alloc(MIB))) continue;
          const timer = setTimeout(() => resolve(true), 500);
          sent.once('drain', () => {
            clearTimeout(timer);
            more();
          });
          return;
        }
        resolve(false);
      };
      more();
    });
    // The sockets on the way hold a few; the gateway does not hold the rest.
    expect([stuck, offered < 30 * MIB]).toEqual([true, true]);
    sent.end();
    go();
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    expect((await read(answer)).toString()).toBe('done');
    expect(taken).toBe(offered);
  });
});

describe('when CAPI fails', () => {
  const unreachable = {
    error: 'Failed to forward to CAPI',
    message: 'The central API cannot be reached, or does not answer in time',
  };

  it('answers 502 when nobody listens, also to a request with a body', async () => {
    const proxy = await startProxy();
    closers.push(proxy.close);
    for (const body of [undefined, Buffer.alloc(5 * MIB)]) {
      const headers = body === undefined ? {} : { 'content-length': String(body.length) };
      const answer = await proxy.raw('POST', '/v3/decisions/sync', {
        headers,
        ...(body === undefined ? {} : { body }),
      });
      expect([answer.status, JSON.parse(answer.body.toString())]).toEqual([502, unreachable]);
    }
  });

  it('answers 502 when it hangs, and to a login as well', async () => {
    const { proxy } = await start(() => {}, { timeoutMs: 300 });
    const body = Buffer.from('{"machine_id":"w1","password":"p"}');
    for (const path of ['/v3/decisions/stream', '/v3/watchers/login']) {
      const answer = await proxy.raw('POST', path, {
        headers: { 'content-length': String(body.length) },
        body,
      });
      expect([answer.status, JSON.parse(answer.body.toString())]).toEqual([502, unreachable]);
    }
  });

  it('breaks off when it breaks off: half an answer does not look whole', async () => {
    const { proxy } = await start((_req, res) => {
      res.writeHead(200).write('half');
      setTimeout(() => res.destroy(), 50);
    });
    await expect(proxy.raw('GET', '/v3/decisions/stream')).rejects.toThrow();
    expect((await proxy.ask('/health')).status).toBe(200);
  });

  it('stops asking when the client has gone, before the answer and during it', async () => {
    const gone: string[] = [];
    const { upstream, proxy } = await start((req, res) => {
      res.once('close', () => gone.push(req.url ?? ''));
      if (req.url === '/v3/during') res.writeHead(200).write('some');
    });
    const before = open(proxy, '/v3/before');
    before.end();
    await until(() => upstream.seen.length === 1);
    before.destroy();
    await until(() => gone.includes('/v3/before'));

    const during = open(proxy, '/v3/during');
    during.end();
    const [answer] = (await once(during, 'response')) as [IncomingMessage];
    answer.on('error', () => {});
    during.destroy();
    await until(() => gone.includes('/v3/during'));
  });
});

describe('targets that mean harm', () => {
  it.each([
    '/v3/../v1/x',
    '/v3/a/../../x',
    '/v3/%2e%2e/x',
    '/v3/..%2fx',
    '/v3/%2E./x',
    '/v3/a%5c..%5c..%5cx',
    '/v3/./x',
    '/v3/%2e%2e%2fx/%zz',
  ])('%s is refused', async (path) => {
    const { upstream, proxy } = await start(respond(200, {}));
    const answer = await proxy.raw('GET', path);
    expect(answer.status).toBe(400);
    expect(JSON.parse(answer.body.toString())).toEqual({
      error: expect.any(String),
      message: expect.any(String),
    });
    expect(upstream.seen).toEqual([]);
  });

  it.each([
    '/v3/signals/',
    '/v3//signals',
    '/v3/%73ignals',
    '/v3/Signals',
    '/v3/signals;a=b',
    '/v3%2fsignals',
    '/v3/signals%2f',
    '/v3/signals%20',
  ])('%s is no way around the rules', async (path) => {
    const { upstream, proxy } = await start(respond(200, {}));
    const body = Buffer.from(JSON.stringify([sampleSignal(1)]));
    const answer = await proxy.raw('POST', path, {
      headers: { 'content-type': 'application/json', 'content-length': String(body.length) },
      body,
    });
    expect([path, answer.status]).toEqual([path, 404]);
    expect(upstream.seen).toEqual([]);
  });

  it.each(['http://evil.example/v3/x', '//evil.example/v3/x', '/v3//evil.example/x', '/v3/@evil.example/x'])(
    '%s never reaches another host',
    async (target) => {
      const { upstream, proxy } = await start(respond(200, {}));
      const { hostname, port } = new URL(proxy.url);
      const socket: Socket = connect(Number(port), hostname);
      socket.write(`GET ${target} HTTP/1.1\r\nhost: evil.example\r\nconnection: close\r\n\r\n`);
      const chunks: Buffer[] = [];
      for await (const chunk of socket as AsyncIterable<Buffer>) chunks.push(chunk);
      expect(Buffer.concat(chunks).toString()).toMatch(/^HTTP\/1\.1 (200|400|404) /);
      for (const { url, headers } of upstream.seen)
        expect([url, headers.host]).toEqual([target, new URL(upstream.url).host]);
    },
  );
});

describe('POST /v2/watchers/login and /v3/watchers/login', () => {
  const startStandIn = async (options: ProxyOptions = {}) => {
    const capi = await createStandInCapi();
    closers.push(capi.close);
    const proxy = await startProxy({ capiUrl: capi.url, ...options });
    closers.push(proxy.close);
    return { capi, proxy };
  };

  it('is answered by CAPI; its token is kept before the client has it, and the actor is told', async () => {
    const { proxy } = await startStandIn();
    const client = signalClient(proxy.url, 'w1');
    await client.login();
    expect((await proxy.stores.watchers.token('w1'))?.token).toBe(client.token());
    expect((await proxy.stores.watchers.get('w1'))?.tokenExpiresAt?.getTime()).toBeGreaterThan(Date.now());
    expect(proxy.woken).toEqual(['w1']);
    expect((await client.push([sampleSignal(1)])).status).toBe(200);
    expect(await proxy.stores.alerts.summaries()).toMatchObject([{ watcher: 'w1', waiting: 1 }]);
  });

  it('names the watcher of an opaque token, also in gzip both ways', async () => {
    const { proxy } = await start(async (req, res) => {
      await read(req);
      const body = gzipSync('{"code":200,"expire":"2099-01-01T00:00:00Z","token":"opaque-7"}');
      res.writeHead(200, { 'content-encoding': 'gzip' }).end(body);
    });
    const body = gzipSync('{"machine_id":"w7","password":"p"}');
    const login = await proxy.raw('POST', '/v2/watchers/login?x', {
      headers: { 'content-encoding': 'gzip', 'content-length': String(body.length) },
      body,
    });
    expect(login.status).toBe(200);
    expect(await proxy.stores.watchers.watcherOfToken(sha256('opaque-7'))).toBe('w7');
    await proxy.push([sampleSignal(1)], { token: 'opaque-7' });
    expect(await proxy.stores.alerts.summaries()).toMatchObject([{ watcher: 'w7', waiting: 1 }]);
  });

  it('ends the hold: a login takes the 401 back that was due', async () => {
    const { proxy } = await startStandIn();
    const old = mintToken('w1', { issuedAt: Date.now() - 60_000 }).token;
    await proxy.push([sampleSignal(1)], { token: old });
    await proxy.stores.watchers.refuseToken('w1', sha256(old));
    const client = signalClient(proxy.url, 'w1');
    await client.login();
    expect((await client.push([sampleSignal(2)])).status).toBe(200);
  });

  it('teaches nothing when CAPI refuses it', async () => {
    const { proxy } = await start(respond(403, {}, '{"token":"opaque-8","message":"no"}'));
    const body = Buffer.from('{"machine_id":"w8","password":"wrong"}');
    const answer = await proxy.raw('POST', '/v3/watchers/login', {
      headers: { 'content-length': String(body.length) },
      body,
    });
    expect([answer.status, answer.body.toString()]).toEqual([403, '{"token":"opaque-8","message":"no"}']);
    expect(await proxy.stores.watchers.list()).toEqual([]);
  });

  it('passes bodies that are no login on unread, whole', async () => {
    const large = Buffer.alloc(300_000, 'x');
    const { proxy } = await start(async (req, res) => res.end(await read(req)));
    const answer = await proxy.raw('POST', '/v3/watchers/login', {
      headers: { 'content-length': String(large.length) },
      body: large,
    });
    expect(answer.body.equals(large)).toBe(true);
    const odd = await proxy.raw('POST', '/v3/watchers/login', {
      headers: { 'content-length': '1' },
      body: Buffer.from('{'),
    });
    expect([odd.status, odd.body.toString()]).toEqual([200, '{']);
    expect(await proxy.stores.watchers.list()).toEqual([]);
  });

  it('is answered when the store fails, and soon when it hangs', async () => {
    for (const saveToken of [
      () => Promise.reject(new Error('no store')),
      () => new Promise<never>(() => {}),
    ]) {
      const { proxy } = await startStandIn({
        adapt: ({ watchers }) => ({ watchers: { ...watchers, saveToken } }),
      });
      const started = performance.now();
      const client = signalClient(proxy.url, 'w1');
      await client.login();
      expect(client.token()).toBeDefined();
      expect(performance.now() - started).toBeLessThan(4000);
    }
  });

  it('shows no token in the log', async () => {
    const { proxy } = await startStandIn();
    const client = signalClient(proxy.url, 'w1');
    await client.login();
    await client.push([sampleSignal(1)]);
    const log = proxy.logLines.join('');
    expect(log).toContain('/v3/watchers/login');
    for (const secret of [client.token() ?? '', 'a-password']) expect(log).not.toContain(secret);
  });
});
