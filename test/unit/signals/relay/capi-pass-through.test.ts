import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { gzipSync } from 'node:zlib';
import { createCapiPassThrough } from '../../../../api/signals/relay/capi-pass-through.js';
import type { CapiPassThrough } from '../../../../api/signals/relay/capi-pass-through.js';
import { endToEndHeaders } from '../../../../api/signals/relay/end-to-end-headers.js';
import { endServer, listenOnLoopback } from '../../../support/loopback-server.js';

type Handler = (req: IncomingMessage, res: ServerResponse) => void;

async function listen(handler: Handler): Promise<{ server: Server; url: string }> {
  const server = createServer(handler);
  return { server, ...(await listenOnLoopback(server)) };
}

let answer: Handler;
let upstream: { server: Server; url: string };
const opened: CapiPassThrough[] = [];
beforeAll(async () => {
  upstream = await listen((req, res) => answer(req, res));
});
afterAll(() => endServer(upstream.server));
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
});

function to(baseUrl = upstream.url, timeoutMs = 2000): CapiPassThrough {
  const one = createCapiPassThrough({ baseUrl, timeoutMs });
  opened.push(one);
  return one;
}

function get(path: string) {
  return { method: 'GET', path, headers: {}, body: null };
}

describe('passThrough', () => {
  it('keeps method, path, query, headers and bytes both ways', async () => {
    const packed = gzipSync('hello');
    let seen:
      { url?: string | undefined; method?: string | undefined; headers: object; body: Buffer } | undefined;
    answer = async (req, res) => {
      seen = { url: req.url, method: req.method, headers: req.headers, body: await buffer(req) };
      res.writeHead(422, [
        'Content-Encoding',
        'gzip',
        'Retry-After',
        '9',
        'X-RateLimit-Limit',
        '3',
        'Set-Cookie',
        'a=1',
        'Set-Cookie',
        'b=2',
        'X-Secret-Hop',
        'h',
        'Connection',
        'close, X-Secret-Hop',
      ]);
      res.end(packed);
    };
    const result = await to().passThrough({
      method: 'POST',
      path: '/v2/metrics/?a=1&b=%2F%20',
      headers: {
        host: 'gateway',
        authorization: 'Bearer t',
        'user-agent': 'crowdsec/v1',
        'content-encoding': 'gzip',
        'if-modified-since': 'yesterday',
        'content-length': String(packed.length),
        expect: '100-continue',
        connection: 'keep-alive, X-Hop',
        'x-hop': '1',
        'keep-alive': 'timeout=5',
        te: 'trailers',
        'proxy-authorization': 'no',
        upgrade: 'h2c',
        accept: ['a', 'b'],
      },
      body: Readable.from([packed.subarray(0, 3), packed.subarray(3)]),
    });
    expect(seen).toMatchObject({ url: '/v2/metrics/?a=1&b=%2F%20', method: 'POST', body: packed });
    expect(seen?.headers).toEqual({
      host: new URL(upstream.url).host,
      authorization: 'Bearer t',
      'user-agent': 'crowdsec/v1',
      'content-encoding': 'gzip',
      'if-modified-since': 'yesterday',
      accept: 'a, b',
      connection: 'close',
      'content-length': String(packed.length),
    });
    expect(result.status).toBe(422);
    expect(result.headers).toMatchObject({
      'content-encoding': 'gzip',
      'retry-after': '9',
      'x-ratelimit-limit': '3',
    });
    expect(Object.keys(result.headers)).not.toEqual(expect.arrayContaining(['connection']));
    for (const name of ['x-secret-hop', 'set-cookie']) expect(result.headers).not.toHaveProperty(name);
    expect(result.headers).not.toHaveProperty('transfer-encoding');
    expect(await buffer(result.body)).toEqual(packed);
  });

  it('streams: the answer arrives while it is being written', async () => {
    let finish = (): void => undefined;
    answer = (_req, res) => {
      res.write('first');
      finish = () => res.end('last');
    };
    const { body } = await to().passThrough(get('/v2/decisions/stream?startup=true'));
    const [first] = (await once(body, 'data')) as [Buffer];
    expect(String(first)).toBe('first');
    finish();
    expect(await text(body)).toBe('last');
  });

  it.each([
    ['POST', { 'content-length': '0' }],
    ['DELETE', {}],
    ['GET', {}],
    ['HEAD', {}],
  ])('%s without a body', async (method, headers) => {
    answer = (req, res) => res.end(req.method);
    for (const body of [null, Readable.from([])]) {
      const result = await to().passThrough({ method, path: '/v2/watchers/self', headers, body });
      expect(await text(result.body)).toBe(method === 'HEAD' ? '' : method);
    }
  });

  it('does not follow a redirect', async () => {
    answer = (_req, res) => res.writeHead(302, { location: 'http://169.254.169.254/' }).end();
    const result = await to().passThrough(get('/v3/x'));
    expect([result.status, result.headers['location']]).toEqual([302, 'http://169.254.169.254/']);
    result.body.resume();
  });

  it('keeps the path of the base URL', async () => {
    answer = (req, res) => res.end(req.url);
    const { body } = await to(`${upstream.url}/capi/`).passThrough(get('/v3/x?y'));
    expect(await text(body)).toBe('/capi/v3/x?y');
  });

  it.each([
    '//evil.example/v2/x',
    'http://evil.example/v2/x',
    '/\\evil.example/',
    '/v2/a\\b',
    '/v2/a b',
    '/v2/a\r\nx: y',
    '/v2/../admin',
    '/v2/%2e%2E/admin',
    '/v2/.%2e',
    'v2/x',
    '*',
    '',
    '/v2/x#y',
    '/v2/é',
  ])('refuses the path %j', async (path) => {
    await expect(to().passThrough(get(path))).rejects.toMatchObject({ code: 'BAD_REQUEST', status: 400 });
  });

  it.each(['CONNECT', 'TRACE', 'get', 'GET /x'])('refuses the method %s', async (method) => {
    await expect(to().passThrough({ ...get('/v2/x'), method })).rejects.toMatchObject({
      code: 'BAD_REQUEST',
    });
  });

  it('reports 502 when CAPI cannot be reached', async () => {
    await expect(to('http://127.0.0.1:1').passThrough(get('/v2/x'))).rejects.toMatchObject({
      code: 'CAPI_UNREACHABLE',
      status: 502,
      message: 'Failed to forward to CAPI',
      retryable: true,
    });
  });

  it('reports 502 when CAPI does not answer in time, and when it hangs up', async () => {
    answer = () => undefined;
    const from = Date.now();
    await expect(to(upstream.url, 200).passThrough(get('/v2/x'))).rejects.toMatchObject({ status: 502 });
    expect(Date.now() - from).toBeLessThan(1500);
    answer = (req) => req.socket.destroy();
    await expect(to().passThrough(get('/v2/x'))).rejects.toMatchObject({ status: 502 });
  });

  it('breaks the answer off when CAPI stops in the middle of it', async () => {
    answer = (_req, res) => {
      res.writeHead(200, { 'content-length': '100' });
      res.write('half', () => res.socket?.destroy());
    };
    const { body } = await to().passThrough(get('/v2/x'));
    await expect(text(body)).rejects.toThrow();
  });

  it('stops when the client has gone', async () => {
    answer = () => undefined;
    const gone = new AbortController();
    const pending = to().passThrough(get('/v2/x'), { signal: gone.signal });
    setTimeout(() => gone.abort(new Error('gone')), 50);
    await expect(pending).rejects.toThrow('gone');
  });

  it('leaves the client its connection, so that a sender in the middle of a body hears the 502', async () => {
    const capi = to('http://127.0.0.1:1');
    const gateway = await listen(async (req, res) => {
      try {
        const result = await capi.passThrough({
          ...req,
          method: 'POST',
          path: '/v2/x',
          headers: req.headers,
          body: req,
        });
        await pipeline(result.body, res);
      } catch (error) {
        res.writeHead((error as { status: number }).status).end();
      }
    });
    const client = request(gateway.url, { method: 'POST' });
    client.write('x'.repeat(500_000));
    const [response] = (await once(client, 'response')) as [IncomingMessage];
    expect(response.statusCode).toBe(502);
    // The gateway reads on to nowhere: the rest can be sent, and the exchange ends in order.
    client.end('x'.repeat(3_000_000));
    await Promise.all([once(client, 'finish'), text(response)]);
    await endServer(gateway.server);
  });
});

describe('endToEndHeaders', () => {
  it('leaves out what Connection names, in any spelling, in any of several lines', () => {
    expect(
      endToEndHeaders({
        Connection: ['X-One, close', ' x-TWO '],
        'x-one': '1',
        'X-Two': '2',
        'X-Three': '3',
      }),
    ).toEqual({
      'x-three': '3',
    });
  });
});
