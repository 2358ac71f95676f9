import type { Cache } from '../../ports/cache.js';
import type { RedisConnection } from './connect-redis.js';

/**
 * A cache that several gateways share. Each also keeps what it has put there itself, so that Redis going away costs
 * questions asked again and nothing else.
 * @param own the part of this process
 */
export function createRedisCache(
  { client }: Pick<RedisConnection, 'client'>,
  keyPrefix: string,
  own: Cache,
): Cache {
  return {
    async get(key) {
      return (await own.get(key)) ?? (await client.get(`${keyPrefix}${key}`).catch(() => null));
    },
    async set(key, value, ttlMs) {
      if (ttlMs < 1) return;
      await own.set(key, value, ttlMs);
      await client.set(`${keyPrefix}${key}`, value, 'PX', Math.floor(ttlMs)).catch(() => null);
    },
  };
}
