import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import { gunzipSync, gzipSync } from 'node:zlib';
import { createCapiClient } from '../../../../activities/signals/capi/capi-client.js';
import type { DeliveryResult } from '../../../../activities/ports/capi.js';
import { createStandInCapi } from '../../../../deploy/stand-in-capi/create-stand-in-capi.js';
import type { StandInCapi } from '../../../../deploy/stand-in-capi/create-stand-in-capi.js';
import { mintToken } from '../../../../deploy/stand-in-capi/stand-in-token.js';
import { startUpstream } from '../../../api/support/scripted-upstream.js';
import { listenOnLoopback } from '../../../support/loopback-server.js';

let standIn: StandInCapi;
const WATCHER = 'lapi-one';
const BODY = '[{"scenario":"a","n":1.10},{"scenario":"bad-marker"}]';

beforeAll(async () => {
  standIn = await createStandInCapi();
});
afterAll(() => standIn.close());
afterEach(async () => {
  standIn.behave();
  await standIn.listen();
});

function send(
  options: { timeoutMs?: number; baseUrl?: string; signal?: AbortSignal; token?: string } = {},
): Promise<DeliveryResult> {
  return createCapiClient({
    baseUrl: options.baseUrl ?? `${standIn.url}/`,
    timeoutMs: options.timeoutMs ?? 5000,
    userAgent: 'tamis-test',
  }).sendSignals('v3', BODY, options.token ?? mintToken(WATCHER).token, options.signal);
}

describe('createCapiClient', () => {
  it('delivers the body byte for byte, on the version asked for', async () => {
    const before = standIn.received().length;
    expect(await send()).toEqual({ outcome: 'accepted', status: 200 });
    expect(standIn.received().slice(before)).toMatchObject([
      { watcher: WATCHER, version: 'v3', bytes: Buffer.byteLength(BODY), answered: 200 },
    ]);
  });

  it('sees the answer that came while this process stood still for longer than the time-out', async () => {
    const other = new Worker(
      `const { parentPort } = require('node:worker_threads');
       const server = require('node:http').createServer((req, res) => {
         req.resume().on('end', () => res.end('{}'));
         parentPort.postMessage('asked');
       });
       server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));`,
      { eval: true },
    );
    try {
      const [port] = (await once(other, 'message')) as [number];
      const result = send({ timeoutMs: 300, baseUrl: `http://127.0.0.1:${port}/` });
      expect(await once(other, 'message')).toEqual(['asked']);
      const until = performance.now() + 600;
      while (performance.now() < until);
      expect(await result).toEqual({ outcome: 'accepted', status: 200 });
    } finally {
      await other.terminate();
    }
  });

  it('tells status, message and seconds of Retry-After', async () => {
    standIn.behave({ kind: 'status', status: 429, retryAfter: 17, message: 'slow down' });
    expect(await send()).toEqual({
      outcome: 'rejected',
      status: 429,
      retryAfterMs: 17_000,
      message: 'slow down',
    });
  });

  it('understands a date in Retry-After', async () => {
    const at = new Date(Date.now() + 90_000).toUTCString();
    standIn.behave({ kind: 'status', status: 503, retryAfter: at });
    const result = await send();
    if (result.outcome !== 'rejected') throw new Error(result.outcome);
    expect(result.retryAfterMs).toBeGreaterThan(85_000);
    expect(result.retryAfterMs).toBeLessThanOrEqual(90_000);
  });

  it.each([
    [{ kind: 'status', status: 500 } as const, 500],
    [{ kind: 'status', status: 403 } as const, 403],
    [{ kind: 'marked-items', marker: 'bad-marker' } as const, 400],
    [{ kind: 'too-large', maxBytes: 10 } as const, 413],
    [{ kind: 'unauthorized' } as const, 401],
  ])('reports a refusal: %j', async (behaviour, status) => {
    const { token } = mintToken(WATCHER);
    const taken = standIn.received().length;
    standIn.behave(behaviour);
    expect(await send({ token })).toMatchObject({ outcome: 'rejected', status, retryAfterMs: null });
    expect(standIn.received().length).toBe(taken);
  });

  it('reports unknown when CAPI hangs, and stops waiting', async () => {
    standIn.behave({ kind: 'hang' });
    const from = Date.now();
    expect(await send({ timeoutMs: 200 })).toMatchObject({ outcome: 'unknown' });
    expect(Date.now() - from).toBeLessThan(2000);
  });

  it.each(['close-untaken', 'close-unanswered'] as const)(
    'reports unknown after %s: nobody here can know',
    async (kind) => {
      standIn.behave({ kind });
      expect(await send()).toMatchObject({ outcome: 'unknown' });
      expect(standIn.pushes().at(-1)).toMatchObject({ taken: kind === 'close-unanswered', answered: null });
    },
  );

  it('takes a 2xx status line for an answer when the connection ends right after it', async () => {
    standIn.behave({ kind: 'close-after-status' });
    expect(await send()).toEqual({ outcome: 'accepted', status: 200 });
    expect(standIn.pushes().at(-1)).toMatchObject({ taken: true, answered: 200 });
  });

  it('reports unreachable when nobody listens', async () => {
    await standIn.refuse();
    expect(await send()).toMatchObject({ outcome: 'unreachable' });
  });

  it('reports unreachable when the name does not exist', async () => {
    expect(await send({ baseUrl: 'http://capi.invalid' })).toMatchObject({ outcome: 'unreachable' });
  });

  it('stops when told to', async () => {
    standIn.behave({ kind: 'hang' });
    expect(await send({ signal: AbortSignal.timeout(100) })).toMatchObject({ outcome: 'unknown' });
    expect(await send({ signal: AbortSignal.abort() })).toMatchObject({ outcome: 'unreachable' });
  });
});

describe('createCapiClient, against bytes that no good server sends', () => {
  let reply: (socket: Socket) => void;
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => reply(socket));
  });
  let baseUrl: string;
  beforeAll(async () => {
    const { url } = await listenOnLoopback(server);
    baseUrl = `${url}/under/a/path/`;
  });
  afterAll(() => {
    server.close();
  });

  const cases: [string, (socket: Socket) => void, Partial<DeliveryResult>][] = [
    ['2xx without the end of its line', (s) => s.end('HTTP/1.1 202'), { outcome: 'accepted', status: 202 }],
    [
      '2xx in small fragments',
      (s) => {
        s.setNoDelay(true);
        [...'HTTP/1.1 200 OK\r\n'].forEach((byte, i) => setTimeout(() => s.write(byte), i * 5));
        setTimeout(() => s.destroy(), 200);
      },
      { outcome: 'accepted', status: 200 },
    ],
    ['2xx and then rubbish', (s) => s.end('HTTP/1.1 200 OK\r\n\0\0\0'), { outcome: 'accepted' }],
    [
      '2xx and then a reset',
      (s) => s.write('HTTP/1.1 200 OK\r\n', () => s.resetAndDestroy()),
      { outcome: 'accepted' },
    ],
    [
      '2xx after an interim answer',
      (s) => s.end('HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\n'),
      { outcome: 'accepted', status: 200 },
    ],
    [
      '2xx whose headers never end',
      (s) => s.write('HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n'),
      { outcome: 'accepted', status: 200 },
    ],
    [
      "a portal's page with status 200",
      (s) => s.end('HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n<html>Sign in'),
      {
        outcome: 'unknown',
        message: "Not CAPI's answer: 200 with content of type text/html; charset=utf-8.",
      },
    ],
    [
      'a page whose headers come behind its status line',
      (s) =>
        s.write('HTTP/1.1 200 OK\r\n', () => setTimeout(() => s.end('Content-Type: text/html\r\n\r\n'), 50)),
      { outcome: 'unknown' },
    ],
    [
      'a 2xx of JSON whose body is cut short',
      (s) => s.end('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{'),
      { outcome: 'accepted', status: 200 },
    ],
    ['a status cut short', (s) => s.end('HTTP/1.1 20'), { outcome: 'unknown' }],
    ['an interim answer alone', (s) => s.end('HTTP/1.1 102 Processing\r\n\r\n'), { outcome: 'unknown' }],
    ['another protocol', (s) => s.end('SSH-2.0-OpenSSH_9.2\r\n'), { outcome: 'unknown' }],
    [
      'a refusal without headers',
      (s) => s.end('HTTP/1.1 500 Oops\r\n'),
      { outcome: 'rejected', status: 500 },
    ],
    [
      'a refusal with a body cut short',
      (s) => s.end('HTTP/1.1 429 Too Many\r\nRetry-After: 5\r\nContent-Length: 100\r\n\r\nplain\ttext'),
      { outcome: 'rejected', status: 429, retryAfterMs: 5000, message: 'plain text' },
    ],
    [
      'a refusal whose body never ends',
      (s) => s.write('HTTP/1.1 403 Forbidden\r\nRetry-After: 7\r\nContent-Length: 100\r\n\r\n'),
      { outcome: 'rejected', status: 403, retryAfterMs: 7000 },
    ],
    [
      'a refusal with an endless body',
      (s) => s.write(`HTTP/1.1 500 Oops\r\nContent-Length: 9000000\r\n\r\n${'x'.repeat(200_000)}`),
      { outcome: 'rejected', status: 500, message: 'x'.repeat(500) },
    ],
  ];
  it.each(cases)('%s', async (_name, script, expected) => {
    reply = script;
    expect(await send({ baseUrl, timeoutMs: 1000 })).toMatchObject(expected);
  });

  it("takes a portal's page for no answer to metrics either", async () => {
    reply = (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n');
    const client = createCapiClient({ baseUrl, timeoutMs: 1000, userAgent: 'tamis-test' });
    const result = await client.sendMetrics('v3/usage-metrics', gzipSync('{}'), 'token');
    expect(result).toMatchObject({ outcome: 'unknown' });
  });

  it('reports unreachable when no secure connection comes about', async () => {
    reply = (socket) => socket.end('HTTP/1.1 200 OK\r\n\r\n');
    const result = await send({ baseUrl: baseUrl.replace('http:', 'https:') });
    expect(result).toMatchObject({ outcome: 'unreachable' });
  });

  it('keeps the path of the base URL and sends its own headers only', async () => {
    let seen = '';
    server.once('connection', (socket) => socket.once('data', (bytes) => (seen = bytes.toString())));
    reply = (socket) => socket.end('HTTP/1.1 200 OK\r\n\r\n');
    await send({ baseUrl, token: 'secret' });
    expect(seen).toMatch(/^POST \/under\/a\/path\/v3\/signals HTTP\/1\.1\r\n/);
    expect(seen.toLowerCase()).toContain('authorization: bearer secret\r\n');
    expect(seen.toLowerCase()).toContain('user-agent: tamis-test\r\n');
  });
});

describe('bodies over 5 kB', () => {
  const large = JSON.stringify([{ scenario: 'x', pad: 'y'.repeat(6000) }]);
  const upstreamWith = async (status: (zipped: boolean) => number) => {
    const seen: { encoding: string | undefined; body: string; bytes: number }[] = [];
    const upstream = await startUpstream((req, res) => {
      const chunks: Buffer[] = [];
      req.on('data', (chunk: Buffer) => chunks.push(chunk));
      req.on('end', () => {
        const encoding = req.headers['content-encoding'];
        const bytes = Buffer.concat(chunks);
        const body = String(encoding === 'gzip' ? gunzipSync(bytes) : bytes);
        seen.push({ encoding, body, bytes: bytes.length });
        res.writeHead(status(encoding === 'gzip')).end('{}');
      });
    });
    const client = createCapiClient({ baseUrl: upstream.url, timeoutMs: 5000, userAgent: 'tamis-test' });
    return { upstream, client, seen };
  };

  it('go out compressed, smaller ones as they are', async () => {
    const { upstream, client, seen } = await upstreamWith(() => 200);
    await client.sendSignals('v3', large, 't');
    await client.sendSignals('v2', large, 't');
    await client.sendSignals('v3', BODY, 't');
    await upstream.close();
    expect(seen.map(({ encoding, body }) => [encoding, body])).toEqual([
      ['gzip', large],
      ['gzip', large],
      [undefined, BODY],
    ]);
    expect(seen[0]!.bytes).toBeLessThan(large.length / 10);
  });

  it('go out plain where compressed ones are not taken: that is no fault of the signals', async () => {
    const { upstream, client, seen } = await upstreamWith((zipped) => (zipped ? 415 : 200));
    for (let i = 0; i < 2; i += 1)
      expect(await client.sendSignals('v3', large, 't')).toEqual({ outcome: 'accepted', status: 200 });
    await upstream.close();
    expect(seen.map(({ encoding }) => encoding)).toEqual(['gzip', undefined, undefined]);
  });
});
