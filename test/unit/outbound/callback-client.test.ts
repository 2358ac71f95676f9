import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingMessage, RequestListener, Server } from 'node:http';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createCallbackClient } from '../../../activities/outbound/callback-client.js';
import type { CallbackClient } from '../../../activities/ports/tasks.js';
import { endServer, listenOnLoopback } from '../../support/loopback-server.js';

let server: Server | undefined;
let client: CallbackClient | undefined;
afterEach(async () => {
  await client?.close();
  await endServer(server);
});

const seen: { request: Pick<IncomingMessage, 'headers' | 'method' | 'url'>; body: string }[] = [];

async function listen(answer: RequestListener): Promise<number> {
  seen.length = 0;
  server = createServer((request, response) => {
    let body = '';
    request.on('data', (part: Buffer) => (body += part.toString()));
    request.on('end', () => {
      seen.push({ request: { headers: request.headers, method: request.method, url: request.url }, body });
      answer(request, response);
    });
  });
  return (await listenOnLoopback(server)).port;
}

function open(allowPrivateAddresses: boolean, signingKey: string | null = null) {
  return (client = createCallbackClient({ allowPrivateAddresses, signingKey }));
}

describe('the callback client', () => {
  it('posts JSON with the token, and answers the status', async () => {
    const port = await listen((_request, response) => response.writeHead(202).end('x'.repeat(100_000)));
    const sent = {
      url: `http://127.0.0.1:${port}/done?a=1`,
      token: 's3cret',
      body: '{"n":9007199254740993}',
    };
    expect(await open(true).post(sent)).toBe(202);
    expect(seen).toMatchObject([
      {
        request: {
          method: 'POST',
          url: '/done?a=1',
          headers: { 'content-type': 'application/json', authorization: 'Bearer s3cret' },
        },
        body: sent.body,
      },
    ]);
    expect(seen[0]?.request.headers).not.toHaveProperty('x-tamis-signature');
  });

  it('signs the body with the time, when there is a key', async () => {
    const port = await listen((_request, response) => response.end());
    await open(true, 'a-long-signing-key').post({
      url: `http://127.0.0.1:${port}/`,
      token: null,
      body: '{}',
    });
    const header = String(seen[0]?.request.headers['x-tamis-signature']);
    const [, time, mac] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(header) ?? [];
    expect(mac).toBe(createHmac('sha256', 'a-long-signing-key').update(`${time}.{}`).digest('hex'));
    expect(Math.abs(Number(time) - Date.now() / 1000)).toBeLessThan(60);
    expect(seen[0]?.request.headers).not.toHaveProperty('authorization');
  });

  it('follows no redirect', async () => {
    const port = await listen((_request, response) =>
      response.writeHead(302, { location: '/elsewhere' }).end(),
    );
    expect(await open(true).post({ url: `http://127.0.0.1:${port}/`, token: null, body: '{}' })).toBe(302);
    expect(seen).toHaveLength(1);
  });

  it.each(['127.0.0.1', '127.1', '0x7f000001', '[::1]', '[::ffff:127.0.0.1]', 'localhost'])(
    'connects to no address that is not public: %s',
    async (host) => {
      const port = await listen((_request, response) => response.end());
      const sent = { url: `http://${host}:${port}/`, token: null, body: '{}' };
      await expect(open(false).post(sent)).rejects.toMatchObject({ code: 'CALLBACK_REFUSED' });
      expect(seen).toEqual([]);
    },
  );

  it('connects to no name that resolves to such an address', async () => {
    const { hostname } = await import('node:os');
    const port = await listen((_request, response) => response.end());
    const sent = { url: `http://${hostname()}:${port}/`, token: null, body: '{}' };
    await expect(open(false).post(sent)).rejects.toMatchObject({
      code: expect.stringMatching(/^CALLBACK_(REFUSED|FAILED)$/),
    });
    expect(seen).toEqual([]);
  });

  it('says when there is no answer', async () => {
    const port = await listen((request) => request.socket.destroy());
    const sent = { url: `http://127.0.0.1:${port}/`, token: null, body: '{}' };
    await expect(open(true).post(sent)).rejects.toMatchObject({ code: 'CALLBACK_FAILED' });
  });
});
