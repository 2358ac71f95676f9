import type { CounterStore } from '../../../activities/ports.js';

/** Counts in memory. */
export const createFakeCounterStore = (): CounterStore => {
  let generation = 0;
  return {
    async nextGeneration() {
      generation += 1;
      return generation;
    },
  };
};
