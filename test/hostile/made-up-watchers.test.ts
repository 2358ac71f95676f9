import { createHash } from 'node:crypto';
import { afterEach, expect, it } from '@jest/globals';
import { mintToken } from '../../deploy/stand-in-capi/stand-in-token.js';
import { startProxy } from '../api/support/start-proxy.js';
import type { ProxyOptions } from '../api/support/start-proxy.js';
import { sampleSignal } from '../support/signal-client.js';
import { watchHealth } from './support/health-watch.js';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

function digestOf(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

async function start(options: ProxyOptions = {}) {
  const proxy = await startProxy({ trustedProxies: ['127.0.0.1'], ...options });
  closers.push(proxy.close);
  let serial = 0;
  const push = async (token: string, address = '192.0.2.7') => {
    const body = [sampleSignal((serial += 1))];
    const response = await proxy.push(body, { token, headers: { 'X-Forwarded-For': address } });
    await response.arrayBuffer();
    return response;
  };
  const stored = async () => ({
    alerts: (await proxy.stores.alerts.list({ limit: 1_000, offset: 0 })).length,
    watchers: (await proxy.stores.watchers.list()).length,
  });
  return { proxy, push, stored };
}

function made(index: number): string {
  return mintToken(`made-up-${index}`).token;
}

function unknownWatchers(unknownPerAddress: number): ProxyOptions {
  return { settings: { unknownPerAddress } };
}

it('made-up watchers of one address get so many records, workflows and signals', async () => {
  const { proxy, push, stored } = await start();
  await watchHealth(proxy, async () => {
    for (let index = 0; index < 200; index += 1) {
      const { status, headers } = await push(made(index));
      if (index < 50) expect(status).toBe(200);
      else {
        expect(status).toBe(429);
        expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
      }
    }
  });
  expect(await stored()).toEqual({ alerts: 50, watchers: 50 });
  expect(new Set(proxy.woken).size).toBeLessThanOrEqual(50);
});

it('those that have no readable name count as well, and so does a whole IPv6 network', async () => {
  const { push, stored } = await start(unknownWatchers(3));
  const answers: number[] = [];
  for (let index = 1; index <= 6; index += 1)
    answers.push((await push(`opaque-${index}`, `2001:db8:1:2::${index}`)).status);
  expect(answers).toEqual([200, 200, 200, 429, 429, 429]);
  expect(await stored()).toEqual({ alerts: 3, watchers: 3 });
});

it('keep out nobody that the central API let in, nor those of other addresses', async () => {
  const { proxy, push } = await start(unknownWatchers(2));
  const friend = mintToken('friend').token;
  await proxy.stores.watchers.acceptToken('friend', digestOf(friend));
  for (const index of [1, 2, 3]) await push(made(index));
  expect((await push(made(4))).status).toBe(429);
  expect((await push(friend)).status).toBe(200);
  expect((await push(made(1))).status).toBe(200);
  expect((await push(made(4), '192.0.2.8')).status).toBe(200);
  // Let in, it is known from then on, and its place is free.
  await proxy.stores.watchers.acceptToken('made-up-1', digestOf(made(1)));
  expect((await push(made(5))).status).toBe(200);
  expect((await push(made(6))).status).toBe(429);
});

it('a store that does not tell who is known costs no signal', async () => {
  const { push, stored } = await start({
    ...unknownWatchers(1),
    adapt: ({ watchers }) => ({
      watchers: { ...watchers, admit: () => Promise.reject(new Error('away')) },
    }),
  });
  for (const index of [1, 2, 3]) expect((await push(made(index))).status).toBe(200);
  expect(await stored()).toMatchObject({ alerts: 3 });
});

it('those that pushed while the store did not tell who is known stay unknown', async () => {
  let away = true;
  const { push } = await start({
    ...unknownWatchers(1),
    adapt: ({ watchers }) => ({
      watchers: {
        ...watchers,
        admit: (...asked) => (away ? Promise.reject(new Error('away')) : watchers.admit(...asked)),
      },
    }),
  });
  for (const index of [1, 2]) expect((await push(made(index))).status).toBe(200);
  away = false;
  expect([(await push(made(1))).status, (await push(made(2))).status]).toEqual([200, 429]);
});
