import { setTimeout } from 'node:timers/promises';

/** Waits so that no more than so many of something are done a second; null: as fast as it goes. */
export function createPace(perSecond: number | null, signal: AbortSignal): () => Promise<void> {
  let next = 0;
  return async () => {
    if (perSecond === null) return;
    const now = Date.now();
    const wait = next - now;
    next = Math.max(next, now) + 1000 / perSecond;
    if (wait > 0) await setTimeout(wait, undefined, { signal });
  };
}
