import { LATE, orLate } from '../../../activities/temporal/or-late.js';
import type { Logger } from '../../logger.js';

/** A watcher gets its answer soon, whatever the store does. */
const TIMEOUT_MS = 1000;

/** The store's answer within a second, else `otherwise`; a failure is logged and not thrown. */
export async function withinTimeout<T>(
  work: Promise<T>,
  otherwise: T,
  log: Logger,
  what: string,
): Promise<T> {
  try {
    const answer = await orLate(work, TIMEOUT_MS);
    if (answer !== LATE) return answer;
    log.warn(`${what}: the store does not answer`);
  } catch (error) {
    log.error({ err: error }, what);
  }
  return otherwise;
}
