import type { CounterStore } from '../../../activities/ports/files.js';

/** Counts in memory. */
export function createFakeCounterStore(): CounterStore {
  let generation = 0;
  let user = 1;
  return {
    async nextGeneration() {
      generation += 1;
      return generation;
    },
    async nextUserId() {
      user += 1;
      return user;
    },
  };
}
