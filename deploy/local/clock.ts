import { setTimeout as delay } from 'node:timers/promises';

/** The time that pauses and time limits are measured with; tests bring their own. */
export interface Clock {
  /** Milliseconds since any fixed moment; never goes back, whatever is done to the date of the machine. */
  now(): number;
  /** Rejects when the signal is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const SYSTEM_CLOCK: Clock = {
  now: () => performance.now(),
  sleep: (ms, signal) => delay(ms, undefined, signal === undefined ? {} : { signal }),
};
