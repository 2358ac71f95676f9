import { setImmediate as turn } from 'node:timers/promises';

/** The loop is let go after so long: the slowest expressions take a tenth of a second for one long text. */
const SHARE_MS = 20;

/** To be awaited after each piece of work, such as a look at a signal: others have their turn once a share is up. */
export function createLoopShare(): () => Promise<void> {
  let since = performance.now();
  return async () => {
    if (performance.now() - since < SHARE_MS) return;
    await turn();
    since = performance.now();
  };
}
