import type { Db } from 'mongodb';
import type { CounterStore } from '../../ports/files.js';
import { countersOf, increaseCounter } from './counters.js';
import { withMongoErrors } from './mongo-errors.js';

/** Counters in collection `counters`. */
export const createMongoCounterStore = (db: Db): CounterStore => {
  const counters = countersOf(db);
  return withMongoErrors<CounterStore>({
    nextGeneration: () => increaseCounter(counters, 'generation'),
    // User 1 is there from the start.
    nextUserId: async () => 1 + (await increaseCounter(counters, 'user')),
  });
};
