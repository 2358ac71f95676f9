/** The entries used last, for a while. Of more than fit the one unused for longest goes. */
export const createTtlCache = <Value>(most: number, now: () => number) => {
  const entries = new Map<string, { value: Value; until: number }>();
  return {
    get(key: string): Value | undefined {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      entries.delete(key);
      if (entry.until <= now()) return undefined;
      // To the end: the map's order is the order of the last use.
      entries.set(key, entry);
      return entry.value;
    },
    set(key: string, value: Value, ttlMs: number): void {
      entries.delete(key);
      entries.set(key, { value, until: now() + ttlMs });
      const [oldest] = entries.keys();
      if (entries.size > most && oldest !== undefined) entries.delete(oldest);
    },
  };
};
