import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { RateLimits } from '../../activities/ports/adapters.js';
import { connectRedis } from '../../activities/stores/redis/connect-redis.js';
import {
  createInProcessRateLimits,
  createRedisRateLimits,
} from '../../activities/stores/redis/rate-limits.js';
import { redisProgram, startRedis } from '../support/redis-server.js';
import type { RedisServer } from '../support/redis-server.js';
import { until } from '../support/until.js';
import { rateLimitsContract } from './rate-limits.contract.js';

const RATE = { points: 5, seconds: 60 };
/** Far below what a request may take, far above what a busy machine adds. */
const NOTICEABLE_MS = 1000;

rateLimitsContract({
  name: 'in the process',
  open: async () => ({ store: createInProcessRateLimits(), close: async () => {} }),
});

if (redisProgram === null) describe.skip('rate limits (Redis): no redis-server on this machine', () => {});
else {
  rateLimitsContract({
    name: 'Redis',
    async open() {
      const server = await startRedis();
      const limits = await openLimits(server);
      return {
        store: limits,
        async close() {
          await limits.close();
          await server.close();
        },
      };
    },
  });

  describe('two gateways and their Redis', () => {
    let server: RedisServer;
    beforeAll(async () => {
      server = await startRedis();
    });
    afterAll(() => server.close());

    const open = async () => {
      const states: string[] = [];
      const limits = await openLimits(server, (state) => states.push(state));
      return { limits, states };
    };
    const allowedOf = async (limits: RateLimits[], key: string, each: number): Promise<number> => {
      let allowed = 0;
      for (let round = 0; round < each; round += 1)
        for (const one of limits) if ((await one.take('all', RATE, key)).allowed) allowed += 1;
      return allowed;
    };

    test('share what is allowed', async () => {
      const [a, b] = [await open(), await open()];
      expect(await allowedOf([a.limits, b.limits], 'user:shared', 10)).toBe(5);
      await Promise.all([a.limits.close(), b.limits.close()]);
    });

    test('each go on alone while it is gone, without a wait, and share again when it is back', async () => {
      const [a, b] = [await open(), await open()];
      expect(await allowedOf([a.limits, b.limits], 'user:killed', 10)).toBe(5);
      await server.kill();
      const started = performance.now();
      // looser: each of the two counts from nothing, and still counts
      expect(await allowedOf([a.limits, b.limits], 'user:killed', 50)).toBe(10);
      expect(performance.now() - started).toBeLessThan(NOTICEABLE_MS);
      await until('both have noticed', async () => [a, b].every(({ states }) => states.includes('away')));
      await server.start();
      await until('both are back', async () => [a, b].every(({ states }) => states.at(-1) === 'ready'));
      expect(await allowedOf([a.limits, b.limits], 'user:back', 10)).toBe(5);
      await Promise.all([a.limits.close(), b.limits.close()]);
    });

    test('wait once for one that hangs, and not with every request', async () => {
      const a = await open();
      server.freeze();
      try {
        const started = performance.now();
        expect(await allowedOf([a.limits], 'user:frozen', 200)).toBe(5);
        expect(performance.now() - started).toBeLessThan(NOTICEABLE_MS);
      } finally {
        server.thaw();
      }
      await until('it is back', async () => a.states.at(-1) === 'ready');
      await a.limits.close();
    });
  });

  test('a Redis that was never there is felt by nobody', async () => {
    const states: string[] = [];
    const limits = createRedisRateLimits(
      connectRedis({ url: 'redis://127.0.0.1:9' }, (state) => states.push(state)),
      't:',
    );
    const started = performance.now();
    for (let taken = 0; taken < 5; taken += 1)
      expect(await limits.take('all', RATE, 'user:1')).toMatchObject({ allowed: true });
    expect(await limits.take('all', RATE, 'user:1')).toMatchObject({ allowed: false });
    expect(await limits.peek('all', RATE, 'user:1')).toMatchObject({ allowed: false });
    expect(performance.now() - started).toBeLessThan(NOTICEABLE_MS);
    await until('it was told of', async () => states.includes('away'));
    expect(states).toEqual(['away']); // once, and not with every attempt
    await limits.close();
  });
}

/** Returns when the connection stands: before that every limit is the process's own. */
async function openLimits(server: RedisServer, onState: (state: 'ready' | 'away') => void = () => {}) {
  let ready = false;
  const redis = connectRedis(server, (state) => {
    ready = state === 'ready';
    onState(state);
  });
  const limits = createRedisRateLimits(redis, 'tamis-test:');
  await until('the connection stands', async () => ready);
  return limits;
}
