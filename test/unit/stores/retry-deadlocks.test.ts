import { expect, test } from '@jest/globals';
import { MongoServerError } from 'mongodb';
import type { Db } from 'mongodb';
import { createDeadlockQueue, retryDeadlocks } from '../../../activities/stores/mongo/retry-deadlocks.js';

const DEADLOCK = { code: 16908292, errmsg: 'deadlock detected' };

/** A database whose every write fails with these errors in turn, and succeeds when there are none left. */
function failingDatabase(errors: Error[]): { db: Db; calls: unknown[][] } {
  const calls: unknown[][] = [];
  const write = (...args: unknown[]): Promise<string> => {
    calls.push(args);
    const error = errors.shift();
    return error === undefined ? Promise.resolve('done') : Promise.reject(error);
  };
  const names = ['insertOne', 'updateOne', 'updateMany', 'replaceOne', 'deleteOne', 'deleteMany'];
  const finders = ['findOneAndUpdate', 'findOneAndReplace', 'findOneAndDelete'];
  const all = [...names, ...finders, 'insertMany', 'bulkWrite'];
  const collection = () => Object.fromEntries(all.map((name) => [name, write]));
  return { db: retryDeadlocks({ collection } as unknown as Db), calls };
}

test('a write that a deadlock ended is repeated as it was', async () => {
  const { db, calls } = failingDatabase([new MongoServerError(DEADLOCK), new MongoServerError(DEADLOCK)]);
  expect(await db.collection('rows').updateOne({ a: 1 }, { $set: { b: 2 } })).toBe('done');
  expect(calls).toEqual(Array.from({ length: 3 }, () => [{ a: 1 }, { $set: { b: 2 } }]));
});

test('what keeps failing is given up', async () => {
  const { db, calls } = failingDatabase(Array.from({ length: 50 }, () => new MongoServerError(DEADLOCK)));
  await expect(db.collection('rows').deleteMany({})).rejects.toThrow('deadlock detected');
  expect(calls).toHaveLength(10);
});

test.each([
  ['a taken key', new MongoServerError({ code: 11000, errmsg: 'E11000' })],
  ['a lost connection', new MongoServerError({ code: 1, errmsg: 'unexpected EOF' })],
])(
  '%s is not repeated: nobody knows whether it was written, or it would fail again',
  async (_what, error) => {
    const { db, calls } = failingDatabase([error]);
    await expect(db.collection('rows').insertOne({})).rejects.toBe(error);
    expect(calls).toHaveLength(1);
  },
);

test('a batch is left to its caller', async () => {
  const { db, calls } = failingDatabase([new MongoServerError(DEADLOCK)]);
  await expect(db.collection('rows').insertMany([{}])).rejects.toThrow('deadlock detected');
  expect(calls).toHaveLength(1);
});

test('writes that deadlocks ended are repeated one at a time', async () => {
  const queue = createDeadlockQueue();
  let [running, most] = [0, 0];
  const writes = Array.from({ length: 8 }, () => {
    let attempts = 0;
    return queue(async () => {
      attempts += 1;
      if (attempts === 1) throw new MongoServerError(DEADLOCK);
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
      if (attempts === 2) throw new MongoServerError(DEADLOCK);
      return attempts;
    });
  });
  expect(await Promise.all(writes)).toEqual(Array.from({ length: 8 }, () => 3));
  expect(most).toBe(1);
});

test('a repeat that fails does not stop those behind it', async () => {
  const queue = createDeadlockQueue();
  const failing = (last: Error | string) => {
    const outcomes = [new MongoServerError(DEADLOCK), last];
    return queue(() => {
      const outcome = outcomes.shift()!;
      return typeof outcome === 'string' ? Promise.resolve(outcome) : Promise.reject(outcome);
    });
  };
  const gone = new MongoServerError({ code: 1, errmsg: 'unexpected EOF' });
  const results = await Promise.allSettled([failing(gone), failing('done')]);
  expect(results).toEqual([
    { status: 'rejected', reason: gone },
    { status: 'fulfilled', value: 'done' },
  ]);
});
