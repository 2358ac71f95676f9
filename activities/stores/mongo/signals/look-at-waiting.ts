import type { Collection } from 'mongodb';
import type { WaitingItem } from '../../../../schemas/signals/signals.js';
import type { AlertDocument } from './alert-document.js';

/** How far the queue of a watcher reaches, as the last look found it. */
interface Reach {
  /** The position of the last alert found. */
  last: number;
  /** Positions for each alert found: they are counted over all watchers. */
  spacing: number;
}

/** The next look goes so many times as far as the last one needed; where that is too little, so many times. */
const WIDTHS = [2, 32];

/**
 * The oldest waiting alerts of a watcher, by position.
 *
 * DocumentDB fetches and sorts all that a filter selects, however small the limit: a third of a second of 100,000
 * waiting alerts, for each look. So a look is bounded above by a position behind which enough were found the last
 * time. The bound does not change the result: whatever lies below it is sorted, also what became visible late, and
 * a look that finds too few under its bound is repeated without one.
 */
export function createWaitingLook(
  alerts: Collection<AlertDocument>,
): (watcher: string, limit: number) => Promise<WaitingItem[]> {
  const reaches = new Map<string, Reach>();

  function find(watcher: string, limit: number, bound: number | null) {
    const below = bound === null ? {} : { position: { $lt: bound } };
    return alerts
      .find({ watcher, state: 'waiting', ...below }, { projection: { version: 1, bytes: 1, position: 1 } })
      .sort({ position: 1 })
      .limit(limit)
      .toArray();
  }

  async function findBounded(watcher: string, limit: number) {
    const reach = reaches.get(watcher);
    if (reach !== undefined)
      for (const width of WIDTHS) {
        const found = await find(watcher, limit, reach.last + 1 + Math.ceil(limit * reach.spacing * width));
        if (found.length === limit) return found;
      }
    return find(watcher, limit, null);
  }

  return async (watcher, limit) => {
    const found = await findBounded(watcher, limit);
    const [first, last] = [found[0], found.at(-1)];
    // Fewer than asked for are all there are, and sorting those few costs nothing.
    if (first === undefined || last === undefined || found.length < limit) reaches.delete(watcher);
    else {
      const spacing = (last.position - first.position + 1) / found.length;
      reaches.set(watcher, { last: last.position, spacing });
    }
    return found.map(({ _id, version, bytes }) => ({ id: _id, version, bytes }));
  };
}
