import { setTimeout as pause } from 'node:timers/promises';
import type { Collection, Db } from 'mongodb';
import { isDeadlock } from './mongo-errors.js';

/** Writes of one statement: a deadlock rolls them back whole, so that they can be repeated as they are. */
const REPEATABLE = [
  'insertOne',
  'updateOne',
  'updateMany',
  'replaceOne',
  'deleteOne',
  'deleteMany',
  'findOneAndUpdate',
  'findOneAndReplace',
  'findOneAndDelete',
] as const satisfies readonly (keyof Collection)[];

const MAX_ATTEMPTS = 10;
const FIRST_PAUSE_MS = 25;
const MAX_PAUSE_MS = 1_000;

/**
 * Makes the collections of this handle repeat a write that a deadlock ended. MongoDB repeats conflicting writes inside
 * the server; on FerretDB, PostgreSQL ends one of the writes that wait for each other, and says so to the client. It
 * happens as soon as the same unique key is inserted twice at the same moment. Batches (`insertMany`, `bulkWrite`) are
 * left alone: their parts have different outcomes, which only the caller can evaluate.
 */
export function retryDeadlocks(db: Db): Db {
  const open = db.collection.bind(db) as (...args: unknown[]) => Collection;
  db.collection = ((...args: unknown[]) => withRetries(open(...args))) as unknown as Db['collection'];
  return db;
}

function withRetries(collection: Collection): Collection {
  const methods = collection as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
  for (const name of REPEATABLE) {
    const method = methods[name]!.bind(collection);
    methods[name] = (...args) => retried(() => method(...args));
  }
  return collection;
}

async function retried(write: () => Promise<unknown>): Promise<unknown> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await write();
    } catch (error) {
      if (attempt === MAX_ATTEMPTS || !isDeadlock(error)) throw error;
      // At different moments, or the same writes would meet again: PostgreSQL looks for deadlocks once a second unless
      // set otherwise, so writes that met are told of it together.
      await pause(Math.random() * Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** attempt));
    }
  }
}
