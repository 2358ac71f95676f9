import { setTimeout } from 'node:timers/promises';
import { CliFailure, EXIT } from './cli-failure.js';
import type { Gateway } from './gateway.js';

const LOOK_MS = 200;
/** A worker takes a run within moments; after so long there may be none. */
const WAIT_FOR_WORKER_MS = 60_000;

/**
 * The record of a run is made by the worker that takes it.
 * @param watchIt the command that shows it later
 */
export async function untilTaken(
  gateway: Gateway,
  watchIt: string,
  isTaken: () => Promise<boolean>,
): Promise<void> {
  const until = Date.now() + WAIT_FOR_WORKER_MS;
  while (!(await isTaken())) {
    if (Date.now() > until)
      throw new CliFailure(
        EXIT.failed,
        `No worker has taken the run yet; is one up? It begins as soon as there is: ${watchIt}`,
      );
    await setTimeout(LOOK_MS, undefined, { signal: gateway.signal });
  }
}
