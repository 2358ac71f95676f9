import { setImmediate } from 'node:timers/promises';

/**
 * Room for so many characters in each turn of the event loop, for all callers together: work that is done in slices
 * holds up other requests no longer when many do it at once. Callers have it in the order in which they came.
 */
export function createLoopBudget(charactersPerTurn: number): (characters: number) => Promise<void> {
  let taken = 0;
  let nextTurn: Promise<void> | null = null;
  /** Waits until so many characters have room: many short texts take as long as a long one. */
  return async (characters) => {
    while (taken > 0 && taken + characters > charactersPerTurn) {
      nextTurn ??= setImmediate().then(() => {
        taken = 0;
        nextTurn = null;
      });
      await nextTurn;
    }
    taken += characters;
  };
}
