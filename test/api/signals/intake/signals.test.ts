import { createHash } from 'node:crypto';
import { connect } from 'node:net';
import { deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it, test } from '@jest/globals';
import { mintToken } from '../../../../deploy/stand-in-capi/stand-in-token.js';
import { AppError } from '../../../../schemas/app-error.js';
import type { Alert } from '../../../../schemas/signals/signals.js';
import { seededRandom } from '../../../support/seeded-random.js';
import { sampleSignal } from '../../../support/signal-client.js';
import { startProxy } from '../../support/start-proxy.js';
import type { Proxy, ProxyOptions } from '../../support/start-proxy.js';
import { until } from '../../support/uploads.js';

const MIB = 1024 * 1024;

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

let proxy: Proxy;

async function start(options?: ProxyOptions): Promise<Proxy> {
  proxy = await startProxy(options);
  return proxy;
}

afterEach(() => proxy.close());

function stored(): Promise<Alert[]> {
  return proxy.stores.alerts.list({ limit: 1000, offset: 0 });
}

async function queues() {
  return Object.fromEntries(
    (await proxy.stores.alerts.summaries()).map(({ watcher, waiting }) => [watcher, waiting]),
  );
}

async function answered(response: Response) {
  return { status: response.status, body: await response.json() };
}

function refused(status: number, text: string) {
  return { status, body: { error: text, message: text } };
}

const OK = { status: 200, body: { message: 'OK' } };

describe('POST /v2/signals and /v3/signals: who may', () => {
  it('asks for no key, and sorts by the watcher that the token names', async () => {
    await start();
    const a = mintToken('a'.repeat(48)).token;
    const b = mintToken('b'.repeat(48)).token;
    for (const [token, path] of [
      [a, '/v3/signals'],
      [b, '/v2/signals'],
      [a, '/v3/signals?x=1'],
    ] as const)
      expect(await answered(await proxy.push([sampleSignal(1)], { token, path }))).toEqual(OK);
    expect(await queues()).toEqual({ ['a'.repeat(48)]: 2, ['b'.repeat(48)]: 1 });
    expect((await proxy.stores.alerts.nextWaiting('b'.repeat(48), 9))[0]?.version).toBe('v2');
  });

  it('knows an opaque token by the login that passed by, else by a digest of the header', async () => {
    await start();
    await proxy.stores.watchers.saveToken('w-login', 'opaque-1', null);
    await proxy.push([sampleSignal(1)], { token: 'opaque-1' });
    await proxy.push([sampleSignal(2)], { token: 'opaque-2' });
    expect(await queues()).toEqual({ 'w-login': 1, [`hash:${sha256('Bearer opaque-2')}`]: 1 });
  });

  it('keeps the token that came with the batch, for its watcher alone', async () => {
    await start();
    const { token, expiresAt } = mintToken('w1');
    await proxy.push([sampleSignal(1)], { token });
    expect((await proxy.stores.watchers.token('w1'))?.token).toBe(token);
    expect((await proxy.stores.watchers.get('w1'))?.tokenExpiresAt).toEqual(expiresAt);
    expect(await proxy.stores.watchers.list()).toHaveLength(1);
  });

  it.each([[undefined], [''], ['Basic dzE6cA=='], ['Bearer']])(
    'refuses what comes with %j for a token: it could never be sent',
    async (authorization) => {
      await start();
      const body = Buffer.from(JSON.stringify([sampleSignal(1)]));
      const { status } = await proxy.raw('POST', '/v3/signals', {
        headers: {
          'content-type': 'application/json',
          'content-length': String(body.length),
          ...(authorization === undefined ? {} : { authorization }),
        },
        body,
      });
      expect(status).toBe(401);
      expect(await queues()).toEqual({});
      expect(await proxy.stores.watchers.list()).toEqual([]);
    },
  );

  it.each(['GET', 'HEAD', 'PUT', 'DELETE'])('answers %s with 404, without asking CAPI', async (method) => {
    await start();
    const response = await proxy.raw(method, '/v3/signals');
    expect(response.status).toBe(404);
    if (method !== 'HEAD')
      expect(JSON.parse(response.body.toString())).toEqual({ error: 'Not Found', message: 'Not Found' });
  });
});

describe('POST signals: bad input', () => {
  it.each<[string, string | Buffer, Record<string, string>, number, string]>([
    ['no array', '{"a":1}', {}, 400, 'Invalid request body: expected array'],
    ['null', 'null', {}, 400, 'Invalid request body: expected array'],
    ['plain text', '[]', { 'content-type': 'text/plain' }, 400, 'Invalid request body: expected array'],
    ['bad JSON', '[{]', {}, 400, "Body is not valid JSON but content-type is set to 'application/json'"],
    ['nothing', '', {}, 400, "Body cannot be empty when content-type is set to 'application/json'"],
    [
      'too many items',
      JSON.stringify(Array(1001).fill({})),
      {},
      413,
      'Batch too large: maximum 1000 alerts per request',
    ],
    ['a body over the limit', Buffer.alloc(10 * MIB + 1, ' '), {}, 413, 'Request body is too large'],
    [
      'a body over the limit after gzip',
      gzipSync(Buffer.alloc(10 * MIB + 1, ' ')),
      { 'content-encoding': 'gzip' },
      413,
      'Request body is too large',
    ],
    [
      'an encoding that cannot be decoded',
      '[]',
      { 'content-encoding': 'gzip' },
      400,
      'Request body cannot be decompressed',
    ],
    [
      'a gzip body cut short',
      gzipSync('[{"scenario":"x"}]').subarray(0, 20),
      { 'content-encoding': 'gzip' },
      400,
      'Request body cannot be decompressed',
    ],
    ['an unknown encoding', '[]', { 'content-encoding': 'zstd' }, 415, 'Unsupported content encoding'],
  ])('%s', async (_what, body, headers, status, text) => {
    await start();
    expect(await answered(await proxy.push(body, { headers }))).toEqual(refused(status, text));
    expect(await stored()).toEqual([]);
  });

  it('does not decode a decompression bomb', async () => {
    await start({ settings: { maxSignalBytes: MIB } });
    // Some 900 megabytes: to decode them would take seconds and memory.
    const bomb = Buffer.concat(Array<Buffer>(14).fill(gzipSync(Buffer.alloc(64 * MIB))));
    expect(bomb.length).toBeLessThan(MIB);
    const before = process.memoryUsage.rss();
    const response = await proxy.push(bomb, { headers: { 'content-encoding': 'gzip' } });
    expect(response.status).toBe(413);
    expect(process.memoryUsage.rss() - before).toBeLessThan(64 * MIB);
  });

  it('stops a body of unknown length at the limit, and stays usable', async () => {
    await start({ settings: { maxSignalBytes: 1000 } });
    const endless = new ReadableStream<Uint8Array>({
      start(controller) {
        for (let i = 0; i < 50; i += 1) controller.enqueue(Buffer.alloc(100, ' '));
        controller.close();
      },
    });
    const headers = { authorization: 'Bearer opaque-token' };
    const init = { method: 'POST', headers, body: endless, duplex: 'half' } as RequestInit;
    expect((await fetch(`${proxy.url}/v3/signals`, init)).status).toBe(413);
    expect(await answered(await proxy.push([]))).toEqual(OK);
  });

  it('quarantines a bad item and takes the rest', async () => {
    await start();
    const { token } = mintToken('w1');
    const batch = [
      sampleSignal(1),
      { scenario: 'no source' },
      7,
      { ...sampleSignal(2), scenario: undefined },
      sampleSignal(3),
    ];
    expect(await answered(await proxy.push(batch, { token }))).toEqual(OK);
    expect(await proxy.stores.alerts.summaries()).toMatchObject([
      { watcher: 'w1', waiting: 2, quarantined: 3 },
    ]);
  });
});

describe('POST signals: what it does', () => {
  it.each<[string, (text: string) => string | Buffer, Record<string, string>]>([
    ['plain', (text) => text, {}],
    ['gzip', (text) => gzipSync(text), { 'content-encoding': 'gzip' }],
    ['x-gzip in capitals', (text) => gzipSync(text), { 'content-encoding': 'X-GZIP' }],
    ['deflate', (text) => deflateSync(text), { 'content-encoding': 'deflate' }],
    ['bare deflate', (text) => deflateRawSync(text), { 'content-encoding': 'deflate' }],
    ['a charset', (text) => text, { 'content-type': 'application/json; charset=utf-8' }],
  ])('takes %s bodies, byte for byte', async (_what, encode, headers) => {
    await start();
    const item =
      '{ "scenario":"é/x", "n":12345678901234567890.10, "source":{"scope":"Ip","value":"1.2.3.4"} }';
    expect(await answered(await proxy.push(encode(`[ ${item} ]`), { headers }))).toEqual(OK);
    const [alert] = await stored();
    expect((await proxy.stores.alerts.readWaiting([alert?.id ?? 0]))[0]?.raw).toBe(item);
  });

  it('answers an empty array, and stores nothing', async () => {
    await start();
    expect(await answered(await proxy.push([]))).toEqual(OK);
    expect(await stored()).toEqual([]);
  });

  it('holds back what a rule matches, with its reasons, and tells the LAPI nothing of it', async () => {
    await start({
      rules: [
        { name: 'internal', filter: { field: 'source.ip', op: 'cidr', value: '10.0.0.0/8' } },
        { name: 'off', enabled: false, filter: { field: 'scenario', op: 'not_empty' } },
        { name: 'no decisions', filter: { field: 'decisions', op: 'empty' } },
      ],
    });
    const internal = {
      ...sampleSignal(1, { decisions: [] }),
      source: { scope: 'Ip', value: '10.1.2.3', ip: '10.1.2.3' },
    };
    const { token } = mintToken('w1');
    expect(await answered(await proxy.push([internal, sampleSignal(2)], { token }))).toEqual(OK);
    const [second, first] = await stored();
    expect(first).toMatchObject({ filtered: true, forwardedToCapi: false });
    expect(JSON.parse(first?.filterReasons ?? '')).toEqual([
      'source.ip in CIDR 10.0.0.0/8',
      'decisions is empty',
    ]);
    expect(second).toMatchObject({ filtered: false, filterReasons: null });
    expect(await queues()).toEqual({ w1: 1 });
  });

  it('stores and withholds what replication brought, and tells the actor nothing', async () => {
    await start();
    await proxy.push([sampleSignal(1, { decisions: [{ origin: 'crowdsieve-replication' }] })]);
    expect(await stored()).toMatchObject([{ filtered: false, forwardedToCapi: false }]);
    expect(await queues()).toEqual({});
  });

  it('withholds everything while forwarding is off, and says so', async () => {
    await start({ settings: { forwardEnabled: false } });
    expect(await answered(await proxy.push([sampleSignal(1)]))).toEqual({
      status: 200,
      body: { message: 'OK (forwarding disabled)' },
    });
    expect(await stored()).toHaveLength(1);
    expect([await queues(), proxy.woken]).toEqual([{}, []]);
  });

  it('stores once what is offered twice', async () => {
    await start();
    const batch = [sampleSignal(1), sampleSignal(2)];
    const { token } = mintToken('w1');
    expect(await answered(await proxy.push(batch, { token }))).toEqual(OK);
    expect(await answered(await proxy.push(batch, { token }))).toEqual(OK);
    expect(await stored()).toHaveLength(2);
  });

  it('takes twenty batches at a time', async () => {
    await start();
    const pushes = Array.from({ length: 20 }, (_, n) =>
      proxy.push(
        Array.from({ length: 50 }, (_unused, i) => sampleSignal(i)),
        { token: mintToken(`w${n % 4}`).token, path: n % 2 === 0 ? '/v2/signals' : '/v3/signals' },
      ),
    );
    for (const response of await Promise.all(pushes)) expect(await answered(response)).toEqual(OK);
    expect(await queues()).toEqual({ w0: 250, w1: 250, w2: 250, w3: 250 });
    expect(new Set((await stored()).map(({ id }) => id)).size).toBe(1000);
    await until(() => new Set(proxy.woken).size === 4);
  });
});

describe('POST signals and the store', () => {
  it.each([
    ['is away', new AppError('SERVICE_UNAVAILABLE'), 503, 'Service unavailable'],
    ['breaks', new Error('E11000 hunter2'), 500, 'Internal Server Error'],
  ])('is never answered 200 when the store %s', async (_what, fault, status, text) => {
    await start({
      adapt: ({ alerts }) => ({ alerts: { ...alerts, insert: () => Promise.reject(fault) } }),
    });
    expect(await answered(await proxy.push([sampleSignal(1)]))).toEqual(refused(status, text));
    expect(proxy.woken).toEqual([]);
  });

  it('is answered after the store, and not before', async () => {
    const order: string[] = [];
    await start({
      adapt: ({ alerts }) => ({
        alerts: {
          ...alerts,
          async insert(batch) {
            await new Promise((resolve) => setTimeout(resolve, 100));
            order.push('stored');
            return alerts.insert(batch);
          },
        },
      }),
      notifySignals: async () => void order.push('told'),
    });
    await proxy.push([sampleSignal(1)]);
    order.push('answered');
    expect(order[0]).toBe('stored');
    await until(() => order.includes('told'));
  });

  it('takes signals whose token cannot be kept', async () => {
    await start({
      adapt: ({ watchers }) => ({
        watchers: {
          ...watchers,
          saveToken: () => Promise.reject(new AppError('CONFIG_ERROR')),
          takeLoginWanted: () => Promise.reject(new AppError('SERVICE_UNAVAILABLE')),
        },
      }),
    });
    expect(await answered(await proxy.push([sampleSignal(1)]))).toEqual(OK);
    expect(await stored()).toHaveLength(1);
    expect(proxy.logLines.join('')).toContain('the token of a batch could not be kept');
  });
});

describe('POST signals and Temporal', () => {
  it('tells the watcher of the batch', async () => {
    await start();
    await proxy.push([sampleSignal(1)], { token: mintToken('w1').token });
    await until(() => proxy.woken.length > 0);
    expect(proxy.woken).toEqual(['w1']);
  });

  it('answers all the same when that fails', async () => {
    await start({ notifySignals: () => Promise.reject(new Error('no Temporal')) });
    expect(await answered(await proxy.push([sampleSignal(1)]))).toEqual(OK);
    await until(() => proxy.logLines.join('').includes('no Temporal'));
  });

  it('waits with it while another push is stored, but not for one that hangs', async () => {
    const order: string[] = [];
    let release = (): void => {};
    await start({
      adapt: ({ alerts }) => ({
        alerts: {
          ...alerts,
          async insert(batch) {
            const { watcher } = batch[0]!;
            if (watcher === 'slow') {
              const released = new Promise<void>((resolve) => {
                release = resolve;
              });
              order.push('slow begins');
              await released;
            }
            order.push(`${watcher} stored`);
            return alerts.insert(batch);
          },
        },
      }),
      notifySignals: async (watcher) => void order.push(`${watcher} told`),
    });
    const push = (watcher: string) => proxy.push([sampleSignal(1)], { token: mintToken(watcher).token });

    const first = push('slow');
    await until(() => order.includes('slow begins'));
    await push('quick');
    release();
    expect(await answered(await first)).toEqual(OK);
    await until(() => order.length === 5);
    expect(order).toEqual(['slow begins', 'quick stored', 'slow stored', 'quick told', 'slow told']);

    order.length = 0;
    const second = push('slow');
    await until(() => order.includes('slow begins'));
    await push('quick');
    await until(() => order.includes('quick told'));
    expect(order).not.toContain('slow stored');
    release();
    expect(await answered(await second)).toEqual(OK);
  });

  it('answers at once when that hangs, and piles nothing up', async () => {
    let release = (): void => {};
    const hung = new Promise<void>((resolve) => {
      release = resolve;
    });
    await start({ notifySignals: () => hung });
    const { token } = mintToken('w1');
    const started = performance.now();
    for (let i = 0; i < 20; i += 1)
      expect(await answered(await proxy.push([sampleSignal(i)], { token }))).toEqual(OK);
    expect(performance.now() - started).toBeLessThan(2000);
    expect(proxy.woken).toEqual(['w1']);
    release();
    await until(() => proxy.woken.length === 2);
  });
});

describe('POST signals after CAPI refused the token', () => {
  it('is answered 401 once, after storing, to one request of that watcher', async () => {
    await start();
    const { token } = mintToken('w1');
    await proxy.push([sampleSignal(0)], { token });
    await proxy.stores.watchers.refuseToken('w1', sha256(token));
    expect((await proxy.push([sampleSignal(1)], { token: mintToken('w2').token })).status).toBe(200);
    const answers = await Promise.all([1, 2, 3, 4].map((i) => proxy.push([sampleSignal(i)], { token })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 401]);
    const told = answers.find(({ status }) => status === 401);
    expect(await told?.json()).toEqual({
      error: 'Unauthorized',
      message: expect.stringMatching(/log in again.*stored/),
    });
    expect(await queues()).toEqual({ w1: 5, w2: 1 });
    expect(await proxy.stores.watchers.token('w1')).toBeNull();
  });

  it('is not answered 401 when the batch comes with a newer token', async () => {
    await start();
    const old = mintToken('w1').token;
    await proxy.push([sampleSignal(0)], { token: old });
    await proxy.stores.watchers.refuseToken('w1', sha256(old));
    const { token } = mintToken('w1', { issuedAt: Date.now() + 5000 });
    expect(await answered(await proxy.push([], { token }))).toEqual(OK);
    expect((await proxy.stores.watchers.token('w1'))?.token).toBe(token);
    expect(proxy.woken).toContain('w1');
  });
});

it('bounds the pushes of one address in flight by their bytes: 503, and the others are taken', async () => {
  await start();
  const begun = Array.from({ length: 6 }, () => {
    const socket = connect(Number(new URL(proxy.url).port), '127.0.0.1');
    const push = { socket, heard: '' };
    socket.on('data', (bytes: Buffer) => (push.heard += bytes.toString('latin1')));
    socket.on('error', () => undefined);
    const lines = [
      'POST /v3/signals HTTP/1.1',
      'Host: proxy',
      `Authorization: Bearer ${mintToken('w1').token}`,
    ];
    socket.write(
      `${lines.join('\r\n')}\r\nContent-Type: application/json\r\nContent-Length: ${10 * MIB}\r\n\r\n`,
    );
    socket.write(`[${' '.repeat(9 * MIB)}`);
    return push;
  });
  try {
    await until(() => begun.some(({ heard }) => /^HTTP\/1.1 503 [^]*retry-after: 1/i.test(heard)));
    expect(begun.filter(({ heard }) => heard === '').length).toBeGreaterThanOrEqual(3);
    for (const { socket } of begun) socket.destroy();
    await until(async () => (await proxy.push([sampleSignal(1)])).status === 200);
  } finally {
    for (const { socket } of begun) socket.destroy();
  }
});

test('a push whose rules take long leaves others their turn', async () => {
  // The states of such an expression double with each letter: nothing of them can be kept for the next text.
  await start({
    rules: [{ name: 'slow', filter: { field: 'message', op: 'regex', value: 'a[ab]{16}c$' } }],
  });
  const random = seededRandom(1);
  const signals = Array.from({ length: 20 }, (_, index) => {
    const letters = Array.from({ length: 8_190 }, () => (random() < 0.5 ? 'a' : 'b'));
    return { ...sampleSignal(index), message: `${letters.join('')}cx` };
  });
  let turns = 0;
  const counting = setInterval(() => (turns += 1), 1);
  const { status } = await proxy.push(signals);
  clearInterval(counting);
  expect([status, (await stored()).length]).toEqual([200, 20]);
  // A turn behind each text, and some besides.
  expect(turns).toBeGreaterThanOrEqual(20);
});
