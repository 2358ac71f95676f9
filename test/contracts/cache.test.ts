import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createInProcessCache } from '../../activities/stores/in-process-cache.js';
import { connectRedis } from '../../activities/stores/redis/connect-redis.js';
import { createRedisCache } from '../../activities/stores/redis/redis-cache.js';
import { redisProgram, startRedis } from '../support/redis-server.js';
import type { RedisServer } from '../support/redis-server.js';
import { until } from '../support/until.js';
import { cacheContract } from './cache.contract.js';

cacheContract({
  name: 'in the process',
  open: async () => ({ store: createInProcessCache(100), close: async () => {} }),
});

test('of too many entries the one unused for longest goes', async () => {
  let now = 0;
  const cache = createInProcessCache(2, () => now);
  await cache.set('a', '1', 10);
  await cache.set('b', '2', 100);
  expect(await cache.get('a')).toBe('1');
  await cache.set('c', '3', 100);
  expect([await cache.get('a'), await cache.get('b'), await cache.get('c')]).toEqual(['1', null, '3']);
  now = 10;
  expect([await cache.get('a'), await cache.get('c')]).toEqual([null, '3']);
});

if (redisProgram === null) describe.skip('cache (Redis): no redis-server on this machine', () => {});
else {
  cacheContract({
    name: 'Redis',
    async open() {
      const server = await startRedis();
      const { cache, close } = await openCache(server);
      return { store: cache, close: () => close().then(() => server.close()) };
    },
  });

  describe('two gateways and their Redis', () => {
    let server: RedisServer;
    beforeAll(async () => {
      server = await startRedis();
    });
    afterAll(() => server.close());

    test('share what they know, and each still knows its own while Redis is gone', async () => {
      const [a, b] = [await openCache(server), await openCache(server)];
      await a.cache.set('8.8.8.8', 'from a', 60_000);
      expect(await b.cache.get('8.8.8.8')).toBe('from a');
      await server.kill();
      expect([await a.cache.get('8.8.8.8'), await b.cache.get('8.8.8.8')]).toEqual(['from a', null]);
      await b.cache.set('9.9.9.9', 'from b', 60_000);
      expect([await a.cache.get('9.9.9.9'), await b.cache.get('9.9.9.9')]).toEqual([null, 'from b']);
      await Promise.all([a.close(), b.close()]);
    });
  });
}

async function openCache(server: RedisServer) {
  let ready = false;
  const redis = connectRedis(server, (state) => {
    ready = state === 'ready';
  });
  const cache = createRedisCache(redis, 'tamis-test:', createInProcessCache(100));
  await until('the connection stands', async () => ready);
  return { cache, close: redis.close };
}
