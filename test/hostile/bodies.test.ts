import { readdir } from 'node:fs/promises';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { afterEach, expect, test } from '@jest/globals';
import { mintToken } from '../../deploy/stand-in-capi/stand-in-token.js';
import { sha256Hex } from '../../schemas/sha256.js';
import { sampleSignal } from '../support/signal-client.js';
import { until } from '../support/until.js';
import { createScriptedChat } from '../api/support/scripted-chat.js';
import { startProxy } from '../api/support/start-proxy.js';
import { startGateway } from '../api/support/start-gateway.js';
import type { Gateway, GatewayOptions } from '../api/support/start-gateway.js';
import { watchHealth } from './support/health-watch.js';

let gateway: Gateway;
let sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  sockets = [];
  await gateway.close();
});

async function start(options: GatewayOptions = {}): Promise<void> {
  gateway = await startGateway(options);
}

function open(): { socket: Socket; heard: () => string; ended: () => boolean } {
  let heard = '';
  let ended = false;
  const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1');
  socket.on('data', (bytes: Buffer) => (heard += bytes.toString('latin1')));
  socket.on('close', () => (ended = true));
  socket.on('error', () => undefined);
  sockets.push(socket);
  return { socket, heard: () => heard, ended: () => ended };
}

function head(path: string, token: string, ...lines: string[]): string {
  return [`POST ${path} HTTP/1.1`, 'Host: gateway', `Authorization: Bearer ${token}`, ...lines, '', ''].join(
    '\r\n',
  );
}

const PACE = {
  windowMs: 200,
  leastBytes: 100,
  drainBytes: 32 * 1024 * 1024,
  drainMs: 2_000,
  unreadMs: 60_000,
  leastTaken: 10_000,
};
const JSON_TYPE = 'Content-Type: application/json';

test('after a 413 the connection serves the next request, chunked and packed', async () => {
  await start();
  const { token } = gateway.addUser('ada');
  const large = Buffer.from(JSON.stringify({ text: 'x'.repeat(9_000_000) }));
  const chunked = Buffer.concat([
    Buffer.from(`${large.length.toString(16)}\r\n`),
    large,
    Buffer.from('\r\n0\r\n\r\n'),
  ]);
  const packed = gzipSync(Buffer.concat([large, Buffer.alloc(40_000_000, 'ab')]));
  for (const [headers, body] of [
    [['Transfer-Encoding: chunked'], chunked],
    [['Content-Encoding: gzip', `Content-Length: ${packed.length}`], packed],
    [[`Content-Length: ${large.length}`], large],
  ] as const) {
    const { socket, heard } = open();
    socket.write(head('/v1/chat/completions', token, JSON_TYPE, ...headers));
    socket.write(body);
    await until('the body is refused', async () => heard().includes('413'));
    socket.write('GET /health_check HTTP/1.1\r\nHost: gateway\r\n\r\n');
    await until('the next request is answered', async () => / 200 OK/.test(heard()));
  }
});

test('a body that stalls is answered 408, and its connection closed', async () => {
  await start({ bodyPace: PACE });
  const { token } = gateway.addUser('ada');
  const boundary = 'x'.repeat(20);
  const part = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nslow`;
  for (const [path, type, begin] of [
    ['/v1/chat/completions', JSON_TYPE, '{"messages": '],
    ['/indexer/partition/one/file/a', `Content-Type: multipart/form-data; boundary=${boundary}`, part],
    ['/v1/tools/execute', `Content-Type: multipart/form-data; boundary=${boundary}`, part],
  ] as const) {
    const { socket, heard, ended } = open();
    socket.write(head(path, token, type, 'Content-Length: 100000'));
    socket.write(begin);
    await until('the stalled body is ended', async () => ended());
    expect(heard()).toMatch(/^HTTP\/1.1 408 /);
  }
});

test('bodies of LAPIs that stall are answered 408, and their connections closed', async () => {
  const proxy = await startProxy({ bodyPace: PACE });
  gateway = proxy;
  const { token } = mintToken('w1');
  await proxy.stores.watchers.acceptToken('w1', sha256Hex(token));
  for (const path of ['/v3/signals', '/v3/usage-metrics', '/v3/watchers/login']) {
    const { socket, heard, ended } = open();
    socket.write(head(path, token, JSON_TYPE, 'Content-Length: 100000') + '[');
    await until(`the stalled body is ended: ${path}`, async () => ended());
    expect(heard()).toMatch(/^HTTP\/1.1 408 /);
  }
});

test('slow bodies of one user take no place of others that execute tools', async () => {
  await start();
  const { token } = gateway.addUser('slow');
  const ada = gateway.addUser('ada').token;
  const boundary = 'x'.repeat(20);
  for (let i = 0; i < 20; i++)
    open().socket.write(
      head(
        '/v1/tools/execute',
        token,
        `Content-Type: multipart/form-data; boundary=${boundary}`,
        'Content-Length: 100000',
      ) + `--${boundary}\r\n`,
    );
  await until(
    'the slow bodies are there',
    async () => (await readdir(gateway.scratchDirectory)).length >= 16,
  );
  const form = new FormData();
  form.set('file', new Blob(['text']), 'a.txt');
  form.set('tool', '{"name": "extractText"}');
  const answer = await gateway.call('POST', '/v1/tools/execute', { body: form, token: ada });
  expect(answer.status).toBe(200);
}, 30_000);

test('bodies in flight are bounded by their bytes, and by the share of each user', async () => {
  const chat = createScriptedChat(['silence']);
  await start({ chat: chat.service });
  const greedy = gateway.addUser('greedy').token;
  const ada = gateway.addUser('ada').token;
  const leave = new AbortController();
  const bodyOf = (length: number): Buffer<ArrayBuffer> =>
    Buffer.from(JSON.stringify({ messages: [{ role: 'user', content: 'x'.repeat(length) }], stream: true }));
  // Written before: the time that a client takes for it in this process is not the gateway's.
  const [large, small] = [bodyOf(7_000_000), bodyOf(1_000_000)];
  const ask = (token: string, body: Buffer<ArrayBuffer>): Promise<Response> =>
    gateway.call('POST', '/v1/chat/completions', {
      token,
      signal: leave.signal,
      headers: { 'Content-Type': 'application/json' },
      body,
    });
  await watchHealth(gateway, async () => {
    const statuses: number[] = [];
    const asked = Array.from({ length: 12 }, () =>
      ask(greedy, large).then(
        ({ status, headers }) => {
          statuses.push(status);
          expect(headers.get('Retry-After')).toBe('1');
        },
        () => undefined,
      ),
    );
    await until('what does not fit is refused', async () => statuses.length >= 8);
    expect(new Set(statuses)).toEqual(new Set([503]));
    const before = chat.requests.length;
    void ask(ada, small).catch(() => undefined);
    await until('another user is served', async () => chat.requests.length > before);
    leave.abort();
    await Promise.all(asked);
  });
}, 60_000);

test.each([
  ['/app/session', JSON_TYPE, '{"token": "'],
  ['/partition/one/users', 'Content-Type: application/x-www-form-urlencoded', 'user_id='],
])('packed bodies in flight are bounded by what they unpack to: %s', async (path, type, begin) => {
  await start();
  const { token } = gateway.addUser('ada');
  await gateway.call('POST', '/partition/one', { token });
  // A few kilobytes each, of which the end does not come.
  const packed = gzipSync(begin + 'a'.repeat(begin.startsWith('{') ? 8_000_000 : 1_000_000)).subarray(0, -9);
  const bodies = Array.from({ length: 60 }, () => {
    const body = open();
    const length = `Content-Length: ${packed.length + 9}`;
    body.socket.write(head(path, token, type, 'Content-Encoding: gzip', length));
    body.socket.write(packed);
    return body;
  });
  const refused = (): number => bodies.filter(({ heard }) => heard().startsWith('HTTP/1.1 503')).length;
  await until('what does not fit is refused', async () => refused() >= 8);
  expect(bodies.find(({ heard }) => heard() !== '')?.heard()).toMatch(/retry-after: 1/i);
});

test.each(['gzip', 'GZIP', 'deflate', 'br'])('a packed body is read: %s', async (encoding) => {
  await start();
  const { token } = gateway.addUser('ada', { is_admin: true });
  const pack = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync }[encoding.toLowerCase()]!;
  const answer = await gateway.call('POST', '/users/', {
    token,
    headers: { 'Content-Type': 'application/json', 'Content-Encoding': encoding },
    body: pack(JSON.stringify({ display_name: 'Grace' })),
  });
  expect(await answer.json()).toMatchObject({ display_name: 'Grace' });
  const torn = await gateway.call('POST', '/users/', {
    token,
    headers: { 'Content-Type': 'application/json', 'Content-Encoding': encoding },
    body: Buffer.from('no packed body'),
  });
  expect(torn.status).toBe(422);
});

const MULTIPART = 'Content-Type: multipart/form-data; boundary=x';

function field(name: string, more = ''): string {
  return `--x\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n`;
}

/** Forms without an end, whose text fields hold nearly eight megabytes each. */
const LARGE_FIELDS = Array.from({ length: 8 }, (_, i) => `${field(`f${i}`)}${'x'.repeat(990_000)}\r\n`).join(
  '',
);
const LARGE_FILE = `${field('file', '; filename="a.txt"')}${'x'.repeat(8_000_000)}`;

test('fields of forms in flight are bounded by their bytes, and files are not', async () => {
  await start();
  const greedy = gateway.addUser('greedy').token;
  const ada = gateway.addUser('ada').token;
  await gateway.call('POST', '/partition/one', { token: greedy });
  await watchHealth(gateway, async () => {
    for (const [path, sending] of [
      ['/indexer/partition/one/file/a', LARGE_FIELDS],
      ['/v1/tools/execute', LARGE_FIELDS],
      ['/partition/one/users', LARGE_FIELDS],
    ] as const) {
      const forms = Array.from({ length: 6 }, () => {
        const form = open();
        form.socket.write(head(path, greedy, MULTIPART, 'Content-Length: 50000000') + sending);
        return form;
      });
      const refused = (): number => forms.filter(({ heard }) => heard().startsWith('HTTP/1.1 503')).length;
      await until(`what does not fit is refused: ${path}`, async () => refused() >= 1);
      expect(forms.find(({ heard }) => heard() !== '')?.heard()).toMatch(/retry-after: 1/i);
      const form = new FormData();
      const id = path.length;
      form.set('file', new Blob([`text ${id}`]), 'a.txt');
      const answer = await gateway.call('POST', `/indexer/partition/two/file/of-${id}`, {
        body: form,
        token: ada,
      });
      expect(answer.status).toBe(201);
      for (const { socket } of forms) socket.destroy();
    }
    const files = Array.from({ length: 6 }, () => {
      const file = open();
      file.socket.write(
        head('/indexer/partition/one/file/b', greedy, MULTIPART, 'Content-Length: 50000000') + LARGE_FILE,
      );
      return file;
    });
    await until('the files have come', async () => files.every(({ socket }) => socket.writableLength === 0));
    expect(files.map(({ heard }) => heard())).toEqual(files.map(() => ''));
  });
}, 60_000);

test('behind a trusted proxy large pushes of one address take no room of another', async () => {
  const proxy = await startProxy({ trustedProxies: ['127.0.0.1'] });
  gateway = proxy;
  const sending = (address: string): string =>
    head('/v2/signals', 'a-token', JSON_TYPE, `X-Forwarded-For: ${address}`, 'Content-Length: 10000000');
  const greedy = Array.from({ length: 4 }, () => {
    const push = open();
    push.socket.write(sending('192.0.2.1') + ' '.repeat(9_900_000));
    return push;
  });
  await until('one does not fit', async () => greedy.some(({ heard }) => heard().includes(' 503 ')));
  const body = ' '.repeat(6_000_000) + JSON.stringify([sampleSignal(1)]);
  const { status } = await gateway.call('POST', '/v2/signals', {
    body,
    token: 'another',
    headers: { 'Content-Type': 'application/json', 'X-Forwarded-For': '192.0.2.2' },
  });
  expect(status).toBe(200);
}, 30_000);

/** Asked one behind the other: what the kernel holds for a connection is less than their answers. */
const ANSWERS = 20;
const ASKED = 'GET /docs/assets/swagger-ui-bundle.js HTTP/1.1\r\nHost: gateway\r\n\r\n'.repeat(ANSWERS);

/** A client that asks and reads nothing, until its connection is closed. */
async function askAndReadNothing(): Promise<{ heard: string }> {
  const { socket, heard, ended } = open();
  socket.pause();
  socket.write(ASKED);
  await until('the connection of whom reads nothing is closed', async () => {
    // Without reading, a client learns of it where it writes.
    socket.write('\r\n');
    return ended();
  });
  return { heard: heard() };
}

test('an answer that the client does not read is broken off, one that it reads slowly is not', async () => {
  await start({ bodyPace: { ...PACE, unreadMs: 300 } });
  const slow = open();
  slow.socket.removeAllListeners('data').pause();
  slow.socket.write(ASKED);
  let answers = 0;
  const reading = setInterval(() => {
    const bytes = slow.socket.read() as Buffer | null;
    if (bytes !== null) answers += bytes.toString('latin1').split('HTTP/1.1 200 OK').length - 1;
  }, 5);
  try {
    expect((await askAndReadNothing()).heard).toBe('');
    await until('all is read', async () => answers === ANSWERS);
  } finally {
    clearInterval(reading);
  }
}, 60_000);

test('an answer for which the client has to wait is not taken for an unread one', async () => {
  const chat = createScriptedChat(['silence']);
  await start({ chat: chat.service, bodyPace: { ...PACE, unreadMs: 100 } });
  const { token } = gateway.addUser('ada');
  const waiting = open();
  const body = JSON.stringify({ messages: [{ role: 'user', content: 'x' }] });
  waiting.socket.write(
    head('/v1/chat/completions', token, JSON_TYPE, `Content-Length: ${body.length}`) + body,
  );
  await until('it is asked', async () => chat.requests.length === 1);
  await askAndReadNothing();
  expect(waiting.ended()).toBe(false);
}, 60_000);
