/** How far the queue of a key reaches, as the last look found it. */
interface Reach {
  /** The place of the last document found. */
  last: number;
  /** Places for each document found: others may lie between. */
  spacing: number;
}

/** The next look goes so many times as far as the last one needed; where that is too little, so many times. */
const WIDTHS = [2, 32];

/**
 * The first documents of a queue, by place.
 *
 * DocumentDB fetches and sorts all that a filter selects, however small the limit: a third of a second of 100,000, for
 * each look. So a look is bounded above by a place behind which enough were found the last time. The bound is never
 * part of the truth: whatever lies below it is sorted, also what became visible late, and a look that finds too few
 * under its bound is repeated without one.
 * @param find the first `limit` documents below a place (null: all), in order
 */
export function createBoundedLook<Key, Found>(
  find: (key: Key, limit: number, below: number | null) => Promise<Found[]>,
  placeOf: (found: Found) => number,
): (key: Key, limit: number) => Promise<Found[]> {
  const reaches = new Map<Key, Reach>();

  async function findBounded(key: Key, limit: number): Promise<Found[]> {
    const reach = reaches.get(key);
    if (reach !== undefined)
      for (const width of WIDTHS) {
        const found = await find(key, limit, reach.last + 1 + Math.ceil(limit * reach.spacing * width));
        if (found.length === limit) return found;
      }
    return find(key, limit, null);
  }

  return async (key, limit) => {
    const found = await findBounded(key, limit);
    const [first, last] = [found[0], found.at(-1)];
    // Fewer than asked for are all there are, and sorting those few costs nothing.
    if (first === undefined || last === undefined || found.length < limit) reaches.delete(key);
    else {
      const place = placeOf(last);
      reaches.set(key, { last: place, spacing: (place - placeOf(first) + 1) / found.length });
    }
    return found;
  };
}
