import { AppError } from '../../schemas/app-error.js';

const MIB = 1024 * 1024;
const COME_AGAIN_MS = 1000;

export interface BodyBudget {
  /**
   * Takes room for bytes of a body, for as long as it is being worked on.
   * @throws AppError SERVICE_UNAVAILABLE when the caller holds its share, or all together hold too much
   */
  take(caller: string, bytes: number): void;
  /** Whether there is room for them. */
  has(caller: string, bytes: number): boolean;
  give(caller: string, bytes: number): void;
}

/**
 * Bodies are held as bytes, as text and as what was parsed of it at once, some six times their size: their sum is
 * bounded rather than their number, and no caller may hold it alone.
 */
export function createBodyBudget(totalBytes = 96 * MIB, callerBytes = totalBytes / 3): BodyBudget {
  const held = new Map<string, number>();
  let total = 0;
  const has = (caller: string, bytes: number): boolean =>
    total + bytes <= totalBytes && (held.get(caller) ?? 0) + bytes <= callerBytes;
  return {
    has,
    take(caller, bytes) {
      if (!has(caller, bytes))
        throw new AppError('SERVICE_UNAVAILABLE', 'Too many large requests at once; try again soon.', {
          plain: true,
          retryAfterMs: COME_AGAIN_MS,
        });
      total += bytes;
      held.set(caller, (held.get(caller) ?? 0) + bytes);
    },
    give(caller, bytes) {
      total -= bytes;
      const left = (held.get(caller) ?? 0) - bytes;
      if (left > 0) held.set(caller, left);
      else held.delete(caller);
    },
  };
}
