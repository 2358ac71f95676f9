const REMEMBERED_MS = 15 * 60_000;
const MAX_REMEMBERED = 10_000;

/** Who was let in lately, and from which address; of this process alone. */
export interface KnownCallers {
  has(address: string, tokenDigest: string | null): boolean;
  add(address: string, tokenDigest: string | null): void;
}

/**
 * Behind one address (a proxy, an office) there may be many callers. Callers authenticated from it are told from
 * clients that guess, or 20 wrong tokens a minute would lock out all of that address. It is bound to the address, so it
 * tells a guesser elsewhere nothing.
 */
export function createKnownCallers(now: () => number = Date.now): KnownCallers {
  const seen = new Map<string, number>();
  return {
    has: (address, digest) =>
      digest !== null && (seen.get(`${address} ${digest}`) ?? -Infinity) > now() - REMEMBERED_MS,
    add(address, digest) {
      if (digest === null) return;
      const key = `${address} ${digest}`;
      seen.delete(key); // to the end: the map's order is the order of the last visit
      seen.set(key, now());
      if (seen.size <= MAX_REMEMBERED) return;
      const [oldest] = seen.keys();
      if (oldest !== undefined) seen.delete(oldest);
    },
  };
}
