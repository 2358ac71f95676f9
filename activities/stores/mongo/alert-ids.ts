import type { Db } from 'mongodb';
import { isDuplicateKey } from './mongo-errors.js';

interface CounterDocument {
  _id: string;
  value: number;
}

interface Wish {
  count: number;
  resolve(first: number): void;
  reject(error: unknown): void;
}

/**
 * Ids of alerts, ever increasing and never used twice. Wishes that come while a reservation is under way share the
 * next one, in their order: all pushes write the same counter, and a crowd of them would wait for it one by one.
 */
export const createAlertIds = (db: Db) => {
  const counters = db.collection<CounterDocument>('counters', {
    writeConcern: { w: 'majority', journal: true },
  });
  let wishes: Wish[] = [];
  let underWay = false;

  /** Answers the first one. */
  const take = async (count: number): Promise<number> => {
    const increase = () =>
      counters.findOneAndUpdate(
        { _id: 'alert' },
        { $inc: { value: count } },
        { upsert: true, returnDocument: 'after' },
      );
    const document = await increase().catch((error: unknown) => {
      // Only the very first call can collide, with another one that inserts the counter.
      if (isDuplicateKey(error)) return increase();
      throw error;
    });
    if (document === null) throw new Error('an upsert answers a document');
    return document.value - count + 1;
  };

  const serve = async (): Promise<void> => {
    underWay = true;
    while (wishes.length > 0) {
      const served = wishes;
      wishes = [];
      try {
        let first = await take(served.reduce((sum, { count }) => sum + count, 0));
        for (const { count, resolve } of served) {
          resolve(first);
          first += count;
        }
      } catch (error) {
        for (const { reject } of served) reject(error);
      }
    }
    underWay = false;
  };

  return {
    /** Reserves ids in one step and answers the first one. Those of a batch that fails are never used. */
    reserve: (count: number): Promise<number> =>
      new Promise((resolve, reject) => {
        wishes.push({ count, resolve, reject });
        if (!underWay) void serve();
      }),
    /** After this no id up to that one is handed out. */
    async raise(last: number): Promise<void> {
      await counters.updateOne({ _id: 'alert' }, { $max: { value: last } });
    },
  };
};
