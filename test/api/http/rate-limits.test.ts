import { afterEach, describe, expect, test } from '@jest/globals';
import { parseConfig } from '../../../schemas/config/config.js';
import { connectShared } from '../../../activities/connect.js';
import { redisProgram, startRedis } from '../../support/redis-server.js';
import { ADMIN_TOKEN, startGateway } from '../support/start-gateway.js';
import type { Gateway } from '../support/start-gateway.js';
import { startProxy } from '../support/start-proxy.js';

const LIMITED = { detail: 'Rate limit exceeded. Please retry later.', extra: {} };

let gateway: Gateway;

async function start(env: Record<string, string> = {}) {
  gateway = await startGateway({ env: { RATE_LIMIT_ENABLED: 'true', ...env } });
  return gateway;
}

afterEach(() => gateway.close());

/** The statuses of so many requests, one after the other. */
async function statuses(times: number, ask: () => Promise<Response>): Promise<number[]> {
  const all: number[] = [];
  for (let asked = 0; asked < times; asked += 1) {
    const response = await ask();
    await response.arrayBuffer();
    all.push(response.status);
  }
  return all;
}

function from(address: string) {
  return { headers: { 'X-Forwarded-For': address } };
}

describe('requests of a user', () => {
  test('over the limit are answered 429 with the time to wait, in the contract’s words', async () => {
    const { addUser, call } = await start({ RATE_LIMIT_DEFAULT: '3/minute' });
    const { token } = addUser('ann');
    expect(await statuses(3, () => call('GET', '/partition/', { token }))).toEqual([200, 200, 200]);
    const refused = await call('GET', '/partition/', { token });
    expect(refused.status).toBe(429);
    expect(await refused.json()).toEqual(LIMITED);
    const wait = Number(refused.headers.get('Retry-After'));
    expect(wait).toBeGreaterThanOrEqual(1);
    expect(wait).toBeLessThanOrEqual(60);
  });

  test('are counted by user and not by address', async () => {
    const { addUser, call } = await start({ RATE_LIMIT_DEFAULT: '2/minute' });
    const [ann, bob] = [addUser('ann').token, addUser('bob').token];
    expect(
      await statuses(3, () => call('GET', '/partition/', { token: ann, ...from('198.51.100.1') })),
    ).toEqual([200, 200, 429]);
    expect((await call('GET', '/partition/', { token: ann, ...from('198.51.100.2') })).status).toBe(429);
    expect((await call('GET', '/partition/', { token: bob, ...from('198.51.100.1') })).status).toBe(200);
  });

  test('are refused before their role is looked at', async () => {
    const { addUser, call } = await start({ RATE_LIMIT_DEFAULT: '1/minute' });
    const { token } = addUser('ann');
    const path = '/indexer/partition/nobodys/file/x';
    const [first, second] = await statuses(2, () => call('DELETE', path, { token }));
    expect(first).toBeGreaterThanOrEqual(403);
    expect(second).toBe(429);
  });

  test('to /v1 have a narrower limit of their own, and count among all', async () => {
    const { addUser, call } = await start({ RATE_LIMIT_CHAT: '2/minute', RATE_LIMIT_DEFAULT: '4/minute' });
    const { token } = addUser('ann');
    expect(await statuses(4, () => call('GET', '/v1/models', { token }))).toEqual([200, 200, 429, 429]);
    // what the narrow one refused is not counted against the wide one
    expect(await statuses(3, () => call('GET', '/partition/', { token }))).toEqual([200, 200, 429]);
  });

  test('of administrators are not limited', async () => {
    const { call } = await start({ RATE_LIMIT_DEFAULT: '1/minute', RATE_LIMIT_CHAT: '1/minute' });
    expect(new Set(await statuses(5, () => call('GET', '/v1/models')))).toEqual(new Set([200]));
  });

  test('are not limited while authentication is off: everybody is the administrator', async () => {
    const { call } = await start({ AUTH_TOKEN: '', RATE_LIMIT_DEFAULT: '1/minute' });
    expect(new Set(await statuses(5, () => call('GET', '/partition/', { token: null })))).toEqual(
      new Set([200]),
    );
  });

  test('are not limited when RATE_LIMIT_ENABLED is off', async () => {
    const { addUser, call } = await start({ RATE_LIMIT_ENABLED: 'false', RATE_LIMIT_DEFAULT: '1/minute' });
    const { token } = addUser('ann');
    expect(new Set(await statuses(5, () => call('GET', '/partition/', { token })))).toEqual(new Set([200]));
  });
});

test('searches with a retrieval trace are limited for administrators too, and other searches are not', async () => {
  const { call } = await start({ RETRIEVAL_DIAGNOSTICS_RATE_LIMIT: '2/minute' });
  const traced = () => call('GET', '/search/?text=mill&include_retrieval_trace=true');
  const seen = await statuses(4, traced);
  expect(seen.slice(0, 2)).not.toContain(429);
  expect(seen.slice(2)).toEqual([429, 429]);
  expect((await call('GET', '/search/?text=mill')).status).not.toBe(429);
});

describe('what needs no authentication', () => {
  test('is limited by address, known paths and unknown ones alike', async () => {
    const { call } = await start({ RATE_LIMIT_DEFAULT: '2/minute' });
    const version = (address: string) => call('GET', '/version', { token: null, ...from(address) });
    expect(await statuses(3, () => version('198.51.100.1'))).toEqual([200, 200, 429]);
    expect((await version('198.51.100.2')).status).toBe(200);
    expect(
      await statuses(3, () => call('GET', '/no/such/path/here', { token: null, ...from('198.51.100.3') })),
    ).toEqual([404, 404, 429]);
  });

  test('never refuses a probe, nor the paths that RATE_LIMIT_EXEMPT_PATHS names', async () => {
    const { call } = await start({ RATE_LIMIT_DEFAULT: '1/minute', RATE_LIMIT_EXEMPT_PATHS: '/version' });
    for (const path of ['/health_check', '/ready', '/ready/', '/version'])
      expect(new Set(await statuses(4, () => call('GET', path, { token: null })))).toEqual(new Set([200]));
  });
});

describe('the group of a request', () => {
  test('is that of the route which serves it, however its path is written', async () => {
    const { addUser, call } = await start({ RATE_LIMIT_CHAT: '2/minute' });
    const { token } = addUser('ann');
    expect(await statuses(2, () => call('GET', '/v1/models', { token }))).toEqual([200, 200]);
    expect((await call('GET', '/V1/models', { token })).status).toBe(429);
  });
});

describe('failed authentications', () => {
  test('are limited on paths without limits as well', async () => {
    await start({ RATE_LIMIT_AUTH_FAILURE: '3/minute', RATE_LIMIT_EXEMPT_PATHS: '/partition' });
    expect(await statuses(5, () => wrong('198.51.100.1'))).toEqual([403, 403, 403, 429, 429]);
  });

  const wrong = (address: string, token: string | null = 'or-wrong') =>
    gateway.call('GET', '/partition/', { token, ...from(address) });

  test('are limited by address', async () => {
    await start({ RATE_LIMIT_AUTH_FAILURE: '3/minute' });
    expect(await statuses(4, () => wrong('198.51.100.1'))).toEqual([403, 403, 403, 429]);
    const refused = await wrong('198.51.100.1');
    expect(refused.status).toBe(429);
    expect(await refused.json()).toEqual(LIMITED);
    expect((await wrong('198.51.100.2')).status).toBe(403);
  });

  test('are none where no token was sent: a new token is let in after any number of those', async () => {
    const { addUser, call } = await start({
      RATE_LIMIT_AUTH_FAILURE: '3/minute',
      METRICS_TOKEN: 'for-scrapers',
    });
    const scrape = () => call('GET', '/metrics', { token: null, ...from('198.51.100.1') });
    expect(new Set(await statuses(25, () => wrong('198.51.100.1', null)))).toEqual(new Set([403]));
    expect(new Set(await statuses(25, scrape))).toEqual(new Set([403]));
    const { token } = addUser('ann');
    expect((await call('GET', '/partition/', { token, ...from('198.51.100.1') })).status).toBe(200);
  });

  test('are told from requests without a token, which count as those of their address', async () => {
    await start({ RATE_LIMIT_DEFAULT: '2/minute' });
    expect(await statuses(3, () => wrong('198.51.100.1', null))).toEqual([403, 403, 429]);
    expect((await wrong('198.51.100.2', null)).status).toBe(403);
  });

  test('then refuse a right token as well, so that guessing on tells nothing', async () => {
    const { call } = await start({ RATE_LIMIT_AUTH_FAILURE: '2/minute' });
    await statuses(2, () => wrong('198.51.100.1'));
    expect((await call('GET', '/partition/', from('198.51.100.1'))).status).toBe(429);
    expect((await call('GET', '/partition/', from('198.51.100.2'))).status).toBe(200);
  });

  test('lock nobody out who was let in from that address before', async () => {
    const { addUser, call } = await start({ RATE_LIMIT_AUTH_FAILURE: '2/minute' });
    const { token } = addUser('ann');
    expect((await call('GET', '/partition/', { token, ...from('198.51.100.1') })).status).toBe(200);
    expect(await statuses(4, () => wrong('198.51.100.1'))).toEqual([403, 403, 429, 429]);
    expect((await call('GET', '/partition/', { token, ...from('198.51.100.1') })).status).toBe(200);
  });

  test('at once are limited like those one after the other', async () => {
    await start({ RATE_LIMIT_AUTH_FAILURE: '5/minute' });
    const answers = await Promise.all(Array.from({ length: 30 }, () => wrong('198.51.100.1')));
    expect(answers.filter(({ status }) => status === 403)).toHaveLength(5);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(25);
  });
});

describe('X-Forwarded-For', () => {
  const version = (header: string) => gateway.call('GET', '/version', { token: null, ...from(header) });

  test('counts only where a trusted proxy sent it', async () => {
    await start({ RATE_LIMIT_DEFAULT: '1/minute', UVICORN_FORWARDED_ALLOW_IPS: '203.0.113.9' });
    expect((await version('198.51.100.1')).status).toBe(200);
    expect((await version('198.51.100.2')).status).toBe(429);
  });

  test('is read from its end: what the client wrote itself gives it no new name', async () => {
    await start({
      RATE_LIMIT_DEFAULT: '1/minute',
      UVICORN_FORWARDED_ALLOW_IPS: '127.0.0.1, 10.0.0.0/8, ::1',
    });
    expect((await version('1.1.1.1, 198.51.100.1')).status).toBe(200);
    expect((await version('2.2.2.2, 198.51.100.1')).status).toBe(429);
    expect((await version('3.3.3.3, 198.51.100.1:4711, 10.2.3.4')).status).toBe(429);
    expect((await version('198.51.100.1, 198.51.100.7')).status).toBe(200);
  });

  test('with `*` everybody in it is a proxy, and the first one the client', async () => {
    await start({ RATE_LIMIT_DEFAULT: '1/minute', UVICORN_FORWARDED_ALLOW_IPS: '*' });
    expect((await version('198.51.100.1, 198.51.100.2')).status).toBe(200);
    expect((await version('198.51.100.1, 198.51.100.3')).status).toBe(429);
  });

  test('takes a /64 network for one client, and rubbish for nobody', async () => {
    await start({ RATE_LIMIT_DEFAULT: '1/minute' });
    expect((await version('2001:db8:0:1::1')).status).toBe(200);
    expect((await version('[2001:db8:0:1:ffff::2]:443')).status).toBe(429);
    expect((await version('2001:db8:0:2::1')).status).toBe(200);
    expect((await version('::ffff:198.51.100.1')).status).toBe(200);
    expect((await version('198.51.100.1')).status).toBe(429);
    // neither is an address, so both are the proxy's own
    expect((await version('unknown')).status).toBe(200);
    expect((await version('1')).status).toBe(429);
  });
});

test('signals and the rest of the LAPI’s side are never limited', async () => {
  const proxy = await startProxy({
    env: { RATE_LIMIT_ENABLED: 'true', RATE_LIMIT_DEFAULT: '1/minute', RATE_LIMIT_AUTH_FAILURE: '1/minute' },
  });
  gateway = proxy;
  expect(new Set(await statuses(10, () => proxy.push([])))).toEqual(new Set([200]));
  expect(
    await statuses(3, () => proxy.call('GET', '/v3/decisions/stream', { token: ADMIN_TOKEN })),
  ).not.toContain(429);
});

const withRedis = redisProgram === null ? test.skip : test;

withRedis('a Redis that goes away, hangs and comes back is felt by no request', async () => {
  const redis = await startRedis();
  const shared = connectShared(
    parseConfig({ REDIS_URL: redis.url, REDIS_KEY_PREFIX: 'tamis-test:' }),
    () => {},
  );
  gateway = await startGateway({ env: { RATE_LIMIT_ENABLED: 'true' }, rateLimits: shared.rateLimits });
  try {
    const { token } = gateway.addUser('ann');
    const ask = () => gateway.call('GET', '/partition/', { token });
    const slowest = async (): Promise<number> => {
      let longest = 0;
      for (let asked = 0; asked < 20; asked += 1) {
        const started = performance.now();
        expect(await statuses(1, ask)).toEqual([200]);
        longest = Math.max(longest, performance.now() - started);
      }
      return longest;
    };
    await slowest();
    redis.freeze();
    expect(await slowest()).toBeLessThan(2000);
    redis.thaw();
    await redis.kill();
    expect(await slowest()).toBeLessThan(2000);
    await redis.start();
    await slowest();
  } finally {
    await shared.close();
    await redis.close();
  }
});
