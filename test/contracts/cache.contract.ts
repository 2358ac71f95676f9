import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import type { Cache } from '../../activities/ports/cache.js';
import { until } from '../support/until.js';
import { useSubject } from './subject.js';
import type { Subject } from './subject.js';

/** What every cache promises: an entry until its time is over, and the last word on it. */
export function cacheContract(subject: Subject<Cache>): void {
  describe(`cache (${subject.name})`, () => {
    const cache = useSubject(subject);

    test('an unknown key is null', async () => {
      expect(await cache().get(randomUUID())).toBeNull();
    });

    test('keeps any text, the empty one too, and the last one of a key', async () => {
      const key = `ü ${randomUUID()}`;
      for (const value of ['', '{"netName":"É"}', 'x'.repeat(100_000)]) {
        await cache().set(key, value, 60_000);
        expect(await cache().get(key)).toBe(value);
      }
    });

    test('forgets in time', async () => {
      const key = randomUUID();
      await cache().set(key, 'short', 20);
      await until('it is forgotten', async () => (await cache().get(key)) === null);
    });

    test('a time that is over already keeps nothing', async () => {
      const key = randomUUID();
      await cache().set(key, 'never', 0);
      expect(await cache().get(key)).toBeNull();
    });
  });
}
