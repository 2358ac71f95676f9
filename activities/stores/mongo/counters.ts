import type { Collection, Db } from 'mongodb';
import { upserted, withMongoErrors } from './mongo-errors.js';
import type { CounterStore } from '../../ports/files.js';

/** Acknowledged by a majority and in the journal: what was answered after it survives whatever happens. */
export const DURABLE = { writeConcern: { w: 'majority', journal: true } } as const;

interface CounterDocument {
  _id: string;
  value: number;
}

export function countersOf(db: Db): Collection<CounterDocument> {
  return db.collection<CounterDocument>('counters', DURABLE);
}

/**
 * Adds to a counter, which begins at 0, and answers what it is then: one atomic `$inc`, acknowledged by a majority, so
 * that no value is handed out twice.
 */
export async function increaseCounter(
  counters: Collection<CounterDocument>,
  name: string,
  by = 1,
): Promise<number> {
  const { value } = await upserted(() =>
    counters.findOneAndUpdate(
      { _id: name },
      { $inc: { value: by } },
      { upsert: true, returnDocument: 'after' },
    ),
  );
  return value;
}

/** Counters in collection `counters`. */
export function createMongoCounterStore(db: Db): CounterStore {
  const counters = countersOf(db);
  return withMongoErrors<CounterStore>({
    nextGeneration: () => increaseCounter(counters, 'generation'),
    // User 1 is there from the start.
    nextUserId: async () => 1 + (await increaseCounter(counters, 'user')),
  });
}
