import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import type { RateLimits } from '../../activities/ports/adapters.js';
import { until } from '../support/until.js';
import { useSubject } from './subject.js';
import type { Subject } from './subject.js';

const MINUTE = { points: 3, seconds: 60 };

/** What every rate limiter promises. */
export function rateLimitsContract(subject: Subject<RateLimits>): void {
  describe(`rate limits (${subject.name})`, () => {
    const limits = useSubject(subject);
    const newKey = (): string => `user:${randomUUID()}`;

    test('so many are allowed, and the next is not', async () => {
      const key = newKey();
      for (const remaining of [2, 1, 0])
        expect(await limits().take('all', MINUTE, key)).toMatchObject({ allowed: true, remaining });
      const refused = await limits().take('all', MINUTE, key);
      expect(refused).toMatchObject({ allowed: false, remaining: 0 });
      expect(refused.resetMs).toBeGreaterThan(0);
      expect(refused.resetMs).toBeLessThanOrEqual(60_000);
    });

    test('keys and names are counted apart', async () => {
      const [key, other] = [newKey(), newKey()];
      for (let taken = 0; taken < 4; taken += 1) await limits().take('all', MINUTE, key);
      expect(await limits().take('all', MINUTE, other)).toMatchObject({ allowed: true });
      expect(await limits().take('chat', MINUTE, key)).toMatchObject({ allowed: true });
    });

    test('of many at once exactly so many are allowed', async () => {
      const key = newKey();
      const rate = { points: 10, seconds: 60 };
      const verdicts = await Promise.all(Array.from({ length: 40 }, () => limits().take('all', rate, key)));
      expect(verdicts.filter(({ allowed }) => allowed)).toHaveLength(10);
    });

    test('looking takes nothing', async () => {
      const key = newKey();
      expect(await limits().peek('all', MINUTE, key)).toEqual({ allowed: true, remaining: 3, resetMs: 0 });
      await limits().take('all', MINUTE, key);
      for (let asked = 0; asked < 5; asked += 1)
        expect(await limits().peek('all', MINUTE, key)).toMatchObject({ allowed: true, remaining: 2 });
      for (let taken = 0; taken < 2; taken += 1) await limits().take('all', MINUTE, key);
      const exhausted = await limits().peek('all', MINUTE, key);
      expect(exhausted).toMatchObject({ allowed: false, remaining: 0 });
      expect(exhausted.resetMs).toBeGreaterThan(0);
    });

    test('the window ends, and all of it is there again', async () => {
      const key = newKey();
      const rate = { points: 1, seconds: 1 };
      await limits().take('all', rate, key);
      expect(await limits().take('all', rate, key)).toMatchObject({ allowed: false });
      await until('the window has ended', async () => (await limits().peek('all', rate, key)).allowed);
      expect(await limits().take('all', rate, key)).toMatchObject({ allowed: true });
    });

    test('a key may hold anything', async () => {
      for (const key of [
        'address:2001:db8::/64',
        'user:1\r\nFLUSHALL\r\n',
        'user:*',
        `user:${'x'.repeat(10_000)}`,
        '',
      ]) {
        expect(await limits().take(`odd-${randomUUID()}`, MINUTE, key)).toMatchObject({
          allowed: true,
          remaining: 2,
        });
      }
    });
  });
}
