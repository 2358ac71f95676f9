import type { CounterStore } from '../../../activities/file-ports.js';

/** Counts in memory. */
export const createFakeCounterStore = (): CounterStore => {
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
};
