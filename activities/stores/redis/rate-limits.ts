import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import type { RateLimiterAbstract } from 'rate-limiter-flexible';
import type { Rate } from '../../../schemas/config/rate.js';
import type { RateLimits, RateVerdict } from '../../ports/adapters.js';
import type { RedisConnection } from './connect-redis.js';

/** Limits of this process alone; with several gateways each allows as much. */
export function createInProcessRateLimits(): RateLimits {
  return over(
    (name, { points, seconds }) => new RateLimiterMemory({ keyPrefix: name, points, duration: seconds }),
  );
}

/**
 * Limits shared through Redis. While it is away each process counts for itself, from nothing (the limiter's
 * insurance): looser limits, and no other effect.
 */
export function createRedisRateLimits(redis: RedisConnection, keyPrefix: string): RateLimits {
  return over(
    (name, { points, seconds }) =>
      new RateLimiterRedis({
        storeClient: redis.client,
        rejectIfRedisNotReady: true,
        // With the window's length: after a change of the setting the old counts do not meet the new window.
        keyPrefix: `${keyPrefix}rate:${name}:${seconds}`,
        points,
        duration: seconds,
        insuranceLimiter: new RateLimiterMemory({ keyPrefix: name, points, duration: seconds }),
      }),
    redis,
  );
}

function over(
  create: (name: string, rate: Rate) => RateLimiterAbstract,
  { problem, close }: Pick<RateLimits, 'problem' | 'close'> = {
    problem: () => null,
    close: async () => {},
  },
): RateLimits {
  const limiters = new Map<string, RateLimiterAbstract>();
  const limiterOf = (name: string, rate: Rate): RateLimiterAbstract => {
    const id = `${name} ${rate.points}/${rate.seconds}`;
    const known = limiters.get(id) ?? create(name, rate);
    limiters.set(id, known);
    return known;
  };
  return {
    async take(name, rate, key) {
      try {
        return verdict(rate, await limiterOf(name, rate).consume(key));
      } catch (refusal) {
        // Anything else is a fault of the limiter itself, which must not become one of the request.
        if (!(refusal instanceof RateLimiterRes))
          return { allowed: true, remaining: rate.points, resetMs: 0 };
        return { ...verdict(rate, refusal), allowed: false };
      }
    },
    async peek(name, rate, key) {
      const open = await limiterOf(name, rate)
        .get(key)
        .catch(() => null);
      if (open === null) return { allowed: true, remaining: rate.points, resetMs: 0 };
      return { ...verdict(rate, open), allowed: open.consumedPoints < rate.points };
    },
    problem,
    close,
  };
}

function verdict(rate: Rate, { consumedPoints, msBeforeNext }: RateLimiterRes): RateVerdict {
  return {
    allowed: consumedPoints <= rate.points,
    remaining: Math.max(0, rate.points - consumedPoints),
    resetMs: Math.max(0, msBeforeNext),
  };
}
