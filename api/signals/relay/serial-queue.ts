import { setTimeout as sleep } from 'node:timers/promises';

export type SerialQueue = <T>(work: () => Promise<T>) => Promise<T>;

/**
 * Runs what it is given one after the other. Between two it rests as long as the first one took, and no longer than
 * `maxRestMs`, so that other work has half of the time.
 */
export function createSerialQueue(maxRestMs = 0): SerialQueue {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    let took = 0;
    const mine = last.then(async () => {
      const began = performance.now();
      try {
        return await work();
      } finally {
        took = performance.now() - began;
      }
    });
    const rest = async (): Promise<void> => {
      const ms = Math.min(maxRestMs, Math.round(took));
      if (ms > 0) await sleep(ms, undefined, { ref: false });
    };
    last = mine.then(rest, rest);
    return mine;
  };
}
