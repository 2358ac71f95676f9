import { LATE, orLate } from './or-late.js';

/** Where it is told that something is left to the sweep. */
export interface Warnings {
  warn(of: object, words: string): void;
}

/** A client waits for us no longer than this because of Temporal. */
const TIMEOUT_MS = 2000;

/**
 * Asks something of Temporal that the records and the sweep make good when it fails: false then, never a throw.
 * A call that takes too long is left to itself.
 */
export async function askTemporal(log: Warnings, what: string, call: () => Promise<void>): Promise<boolean> {
  try {
    if ((await orLate(call(), TIMEOUT_MS)) === LATE) throw new Error(`no answer within ${TIMEOUT_MS} ms`);
    return true;
  } catch (error) {
    log.warn({ err: error }, `${what} is left to the sweep`);
    return false;
  }
}
