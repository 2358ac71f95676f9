import type { ForwardingStarter } from '../../activities/proxy-ports.js';
import type { Logger } from '../logger.js';

/**
 * Tells a watcher's actor that there is something new, without making anybody wait. One call per watcher is under
 * way at most; what comes meanwhile is told by one more afterwards, so that a slow Temporal piles nothing up. A call
 * that fails is logged and left to the sweep.
 */
export const createWaker = (forwarding: ForwardingStarter): ((watcher: string, log: Logger) => void) => {
  const underWay = new Map<string, { again: boolean }>();

  const tell = async (watcher: string, log: Logger): Promise<void> => {
    const mine = { again: true };
    underWay.set(watcher, mine);
    while (mine.again) {
      mine.again = false;
      try {
        await forwarding.wake(watcher);
      } catch (error) {
        log.warn({ err: error, watcher }, 'the forwarding actor could not be told; the sweep will');
      }
    }
    underWay.delete(watcher);
  };

  return (watcher, log) => {
    const current = underWay.get(watcher);
    if (current === undefined) void tell(watcher, log);
    else current.again = true;
  };
};
