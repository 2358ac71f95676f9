import type { Cache } from '../ports/cache.js';

/**
 * The entries used last, in this process, for a while. Of more than fit the one unused for longest goes.
 * @param now milliseconds since 1970
 */
export function createInProcessCache(most: number, now: () => number = Date.now): Cache {
  const entries = new Map<string, { value: string; until: number }>();
  return {
    async get(key) {
      const entry = entries.get(key);
      if (entry === undefined) return null;
      entries.delete(key);
      if (entry.until <= now()) return null;
      // To the end: the map's order is the order of the last use.
      entries.set(key, entry);
      return entry.value;
    },
    async set(key, value, ttlMs) {
      entries.delete(key);
      entries.set(key, { value, until: now() + ttlMs });
      const [oldest] = entries.keys();
      if (entries.size > most && oldest !== undefined) entries.delete(oldest);
    },
  };
}
