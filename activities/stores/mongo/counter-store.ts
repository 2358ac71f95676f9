import type { Db } from 'mongodb';
import type { CounterStore } from '../../file-ports.js';
import { isDuplicateKey, withMongoErrors } from './mongo-errors.js';

interface CounterDocument {
  _id: string;
  value: number;
}

/** Counters in collection `counters`: one atomic `$inc`, acknowledged by a majority, so never handed out twice. */
export const createMongoCounterStore = (db: Db): CounterStore => {
  const counters = db.collection<CounterDocument>('counters');
  const next = async (name: string): Promise<number> => {
    const document = await counters.findOneAndUpdate(
      { _id: name },
      { $inc: { value: 1 } },
      { upsert: true, returnDocument: 'after' },
    );
    if (document === null) throw new Error('an upsert answers a document');
    return document.value;
  };
  const count = async (name: string): Promise<number> => {
    try {
      return await next(name);
    } catch (error) {
      // Only the very first call can collide, with another one that inserts the counter.
      if (!isDuplicateKey(error)) throw error;
      return await next(name);
    }
  };
  return withMongoErrors<CounterStore>({
    nextGeneration: () => count('generation'),
    // User 1 is there from the start.
    nextUserId: async () => 1 + (await count('user')),
  });
};
