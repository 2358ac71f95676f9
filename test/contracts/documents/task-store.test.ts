import { expect, test } from '@jest/globals';
import type { Db, Document } from 'mongodb';
import { createMongoTaskStore } from '../../../activities/stores/mongo/documents/task-store.js';
import { createFakeTaskStore } from '../../support/fakes/documents/fake-task-store.js';
import { sampleTask, times } from '../samples.js';
import { fake, mongo, openTestDatabase } from '../subject.js';
import { taskStoreContract } from './task-store.contract.js';

for (const subject of [fake(createFakeTaskStore), ...mongo(createMongoTaskStore)]) taskStoreContract(subject);

const onMongo = process.env['TAMIS_FAKES_ONLY'] === '1' ? test.skip : test;
const DAY_MS = 24 * 3_600_000;

/** So many tasks of user 7, each with its own id, and what `change` says. */
async function insertTasks(db: Db, count: number, change: (index: number) => Document): Promise<void> {
  const tasks = db.collection<{ _id: string }>('tasks');
  await createMongoTaskStore(db).insert(sampleTask());
  const template = await tasks.findOneAndDelete({});
  const documents = times(count, (index) => ({
    ...template,
    _id: `task-${String(index).padStart(5, '0')}`,
    user_id: 7,
    ...change(index),
  }));
  await tasks.insertMany(documents);
}

onMongo('of very many tasks the newest are listed, however unevenly they came', async () => {
  const { db, close } = await openTestDatabase();
  try {
    const store = createMongoTaskStore(db);
    const now = Date.now();
    // A hundred within the last minutes, a thousand a month ago, a hundred of long before any span.
    const ageOf = (index: number): number => {
      if (index < 100) return index * 1_000;
      return index < 1_100 ? 30 * DAY_MS + index * 1_000 : 3_000 * DAY_MS + index * 1_000;
    };
    await insertTasks(db, 1_200, (index) => ({
      state: 'COMPLETED',
      created_at: new Date(now - ageOf(index)),
    }));
    for (const limit of [10, 100, 101, 1_150, 5_000])
      for (const userId of [7, null]) {
        const found = await store.list({ userId, states: ['COMPLETED', 'FAILED'], limit });
        const newest = times(Math.min(limit, 1_200), (index) => `task-${String(index).padStart(5, '0')}`);
        expect(found.map(({ task_id }) => task_id)).toEqual(newest);
      }
  } finally {
    await close();
  }
});

onMongo('whoever waits longest is next, round by round, also what became visible late', async () => {
  const { db, close } = await openTestDatabase();
  try {
    const store = createMongoTaskStore(db);
    const now = Date.now();
    await insertTasks(db, 300, (index) => ({
      state: 'QUEUED',
      created_at: new Date(now - DAY_MS + index * 1_000),
    }));
    const late = await db.collection<{ _id: string }>('tasks').findOneAndDelete({ _id: 'task-00005' });
    const taken: string[] = [];
    while (taken.length < 300) {
      if (taken.length === 140) await db.collection<{ _id: string }>('tasks').insertOne(late!);
      const round = await store.listWaiting(7, 20);
      // Two rounds see the same as long as nothing is handed over.
      expect(await store.listWaiting(7, 20)).toEqual(round);
      expect(round.length).toBeGreaterThan(0);
      for (const { task_id } of round) await store.markHandedOver(task_id);
      taken.push(...round.map(({ task_id }) => task_id));
    }
    const inOrder = times(300, (index) => `task-${String(index).padStart(5, '0')}`);
    const expected = inOrder.filter((id) => id !== 'task-00005');
    expected.splice(140, 0, 'task-00005');
    expect(taken).toEqual(expected);
    expect(await store.listWaiting(7, 20)).toEqual([]);
  } finally {
    await close();
  }
});
