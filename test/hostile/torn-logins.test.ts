import { connect } from 'node:net';
import type { RequestListener } from 'node:http';
import { afterEach, expect, it } from '@jest/globals';
import { startUpstream } from '../api/support/scripted-upstream.js';
import { OPEN_ACCESS, startProxy } from '../api/support/start-proxy.js';
import type { ProxyOptions } from '../api/support/start-proxy.js';
import { until } from '../support/until.js';

/** Logins of more bytes than are looked at, of which the client leaves before it has sent them. */

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const LOGIN = '/v3/watchers/login';

async function start(options: ProxyOptions, script: RequestListener) {
  const upstream = await startUpstream(script);
  closers.push(upstream.close);
  const proxy = await startProxy({ capiUrl: upstream.url, ...options });
  closers.push(proxy.close);
  return proxy;
}

/** Sends a part of a login, waits for something, and leaves. */
async function sendTorn(url: string, path: string, meanwhile: (heard: () => string) => Promise<unknown>) {
  let heard = '';
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.on('data', (bytes: Buffer) => (heard += bytes.toString('latin1'))).on('error', () => undefined);
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: proxy\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n`,
  );
  socket.write(' '.repeat(128 * 1024));
  await meanwhile(() => heard);
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  socket.destroy();
  await closed;
  // The second one is answered after the gateway has heard of it.
  for (let asked = 0; asked < 2; asked += 1) expect((await fetch(`${url}/health_check`)).status).toBe(200);
}

function answered(status: number): (heard: () => string) => Promise<unknown> {
  return (heard) => until(`it is answered ${status}`, async () => heard().startsWith(`HTTP/1.1 ${status} `));
}

const refuseEarly: RequestListener = (_req, res) => void res.writeHead(401).end('{}');

it('that no watcher on the list can have sent', async () => {
  const access = { ...OPEN_ACCESS, watchers: ['w1'] };
  const proxy = await start({ settings: { access } }, refuseEarly);
  await sendTorn(proxy.url, LOGIN, answered(403));
});

it('at a path that no client of the central API asks for', async () => {
  const proxy = await start({}, refuseEarly);
  await sendTorn(proxy.url, `${LOGIN}?a=\\`, answered(400));
});

it('that the central API refuses at once', async () => {
  const proxy = await start({}, refuseEarly);
  await sendTorn(proxy.url, LOGIN, answered(401));
});

it('while the central API is away', async () => {
  const proxy = await startProxy();
  closers.push(proxy.close);
  await sendTorn(proxy.url, LOGIN, answered(502));
});

it('while the central API keeps it waiting', async () => {
  let asked = 0;
  const proxy = await start({}, () => (asked += 1));
  await sendTorn(proxy.url, LOGIN, () => until('it is asked', async () => asked === 1));
});

it('while its place is looked up', async () => {
  let lookedUp = 0;
  let goOn = (): void => undefined;
  const gate = new Promise<void>((resolve) => (goOn = resolve));
  const proxy = await start(
    {
      adapt: ({ logins }) => ({
        logins: {
          ...logins,
          async reserveShare(...asked) {
            lookedUp += 1;
            await gate;
            return logins.reserveShare(...asked);
          },
        },
      }),
    },
    refuseEarly,
  );
  await sendTorn(proxy.url, LOGIN, () => until('it is looked up', async () => lookedUp === 1));
  goOn();
  expect((await fetch(`${proxy.url}/health_check`)).status).toBe(200);
});
