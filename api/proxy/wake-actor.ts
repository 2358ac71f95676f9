import type { Logger } from '../logger.js';
import type { PushTraffic } from './push-traffic.js';

/** Tells a watcher's actor that there is something new, without making anybody wait. */
export type Waker = (watcher: string, log: Logger) => void;

/** Calls to Temporal under way at once: enough to keep it busy, few enough to leave a crowd of pushes their turn. */
const PARALLEL_CALLS = 8;

/** A push without end must not hold up the forwarding. */
const PATIENCE_MS = 1000;

/**
 * Wakes wait until no push is being stored, for a second at most: a LAPI gives up after five and never offers its
 * signals again, whereas what is stored can be forwarded a moment later. One call per watcher is under way at most;
 * what comes meanwhile is told by one more afterwards, so that a slow Temporal piles nothing up. A call that fails is
 * logged and left to the sweep.
 */
export const createWaker = (call: (watcher: string) => Promise<void>, traffic: PushTraffic): Waker => {
  const due = new Map<string, Logger>();
  const underWay = new Set<string>();
  let callers = 0;

  const next = (): [string, Logger] | undefined => {
    for (const entry of due) if (!underWay.has(entry[0])) return entry;
    return undefined;
  };

  const tell = async (): Promise<void> => {
    callers += 1;
    while (next() !== undefined) {
      await traffic.lull(PATIENCE_MS);
      // The other callers may have taken all of it meanwhile.
      const entry = next();
      if (entry === undefined) break;
      const [watcher, log] = entry;
      due.delete(watcher);
      underWay.add(watcher);
      try {
        await call(watcher);
      } catch (error) {
        log.warn({ err: error, watcher }, 'the forwarding actor could not be told; the sweep will');
      }
      underWay.delete(watcher);
    }
    callers -= 1;
  };

  return (watcher, log) => {
    due.set(watcher, log);
    if (callers < PARALLEL_CALLS) void tell();
  };
};
