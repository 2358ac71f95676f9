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
/** A repeat of another process may be waiting too: for a part of the time in which the server found the deadlock. */
const MAX_PAUSE_MS = 2_000;

/**
 * Repeats what a deadlock ended, one at a time. Two writes of one new unique key both insert it and then wait for each
 * other. PostgreSQL ends one of them after `deadlock_timeout`; were that repeated at once, it would insert its row
 * before the other has looked again, and wait for it as before: of six such writes there would always be some that
 * wait. So those that were ended wait here, where they hold nothing, until the one before them is through.
 */
export function createDeadlockQueue(isRepeatable = isDeadlock): <T>(write: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return async (write) => {
    const start = performance.now();
    try {
      return await write();
    } catch (error) {
      if (!isRepeatable(error)) throw error;
    }
    const took = performance.now() - start;
    const repeated = last.then(() => repeat(write, isRepeatable, took));
    last = repeated.catch(() => undefined);
    return repeated;
  };
}

async function repeat<T>(
  write: () => Promise<T>,
  isRepeatable: (error: unknown) => boolean,
  took: number,
): Promise<T> {
  for (let attempt = 2; ; attempt += 1) {
    await pause(Math.random() * Math.min(MAX_PAUSE_MS, took * 2 ** (attempt - 2)));
    try {
      return await write();
    } catch (error) {
      if (attempt === MAX_ATTEMPTS || !isRepeatable(error)) throw error;
    }
  }
}

/**
 * Makes the collections of this handle repeat a write that a deadlock ended. MongoDB repeats conflicting writes inside
 * the server; on FerretDB, PostgreSQL ends one of the writes that wait for each other, and says so to the client. It
 * happens as soon as the same unique key is inserted twice at the same moment. Batches (`insertMany`, `bulkWrite`) are
 * left alone: their parts have different outcomes, which only the caller can evaluate.
 */
export function retryDeadlocks(db: Db): Db {
  const open = db.collection.bind(db) as (...args: unknown[]) => Collection;
  const queues = new Map<string, ReturnType<typeof createDeadlockQueue>>();
  db.collection = ((...args: unknown[]) => {
    const collection = open(...args);
    const name = String(args[0]);
    const queue = queues.get(name) ?? createDeadlockQueue();
    queues.set(name, queue);
    return withRetries(collection, queue);
  }) as unknown as Db['collection'];
  return db;
}

function withRetries(collection: Collection, queue: ReturnType<typeof createDeadlockQueue>): Collection {
  const methods = collection as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
  for (const name of REPEATABLE) {
    const method = methods[name]!.bind(collection);
    methods[name] = (...args) => queue(() => method(...args));
  }
  return collection;
}
