import { AppError } from '../../schemas/app-error.js';
import type { BreakerState } from '../ports/meter.js';

/** So many failures in a row open the circuit; after so long one call may try whether the server is back. */
const FAILURES_TO_OPEN = 5;
const OPEN_MS = 10_000;

export interface Passage {
  succeeded(): void;
  failed(): void;
  /** Neither: the caller left, or the server refused what it was asked. */
  ended(): void;
}

/**
 * Leaves a server alone that has failed repeatedly, so that callers hear of it at once and it can recover. A call that
 * was aborted counts for nothing (it tells nothing of the server), which ready-made breakers take for a success.
 */
export function createCircuitBreaker(options: {
  name: string;
  now?: () => number;
  /** Told of its state at first and whenever it changes; an open one stays open until a call tries. */
  onState?: ((state: BreakerState) => void) | undefined;
}) {
  const { name, now = () => performance.now(), onState = () => undefined } = options;
  let failures = 0;
  let openUntil = 0;
  let trial = false;
  const fail = (): void => {
    failures += 1;
    if (failures < FAILURES_TO_OPEN) return;
    openUntil = now() + OPEN_MS;
    onState('open');
  };
  onState('closed');

  return {
    /** A failure of a call that had succeeded so far: a stream that broke off. */
    fail,
    /** @throws AppError CIRCUIT_BREAKER_OPEN, with the time to wait */
    enter(): Passage {
      const open = failures >= FAILURES_TO_OPEN;
      const wait = openUntil - now();
      if (open && (wait > 0 || trial))
        throw new AppError(
          'CIRCUIT_BREAKER_OPEN',
          `Model endpoint '${name}' failed repeatedly and is left alone for a moment.`,
          { retryAfterMs: Math.max(1000, Math.ceil(wait)) },
        );
      const trying = open;
      if (trying) {
        trial = true;
        onState('half-open');
      }
      let isOver = false;
      const endOnce = (change: () => void) => (): void => {
        if (isOver) return;
        isOver = true;
        if (trying) trial = false;
        change();
      };
      return {
        succeeded: endOnce(() => {
          const wasOpen = failures >= FAILURES_TO_OPEN;
          failures = 0;
          if (wasOpen) onState('closed');
        }),
        failed: endOnce(fail),
        ended: endOnce(() => {
          if (trying) onState('open');
        }),
      };
    },
  };
}
