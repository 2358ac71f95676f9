import { expect, test } from '@jest/globals';
import { createMongoAlertStore } from '../../../activities/stores/mongo/signals/alert-store.js';
import { createFakeAlertStore } from '../../support/fakes/signals/fake-alert-store.js';
import { alertStoreContract } from './alert-store.contract.js';
import { sampleAlert } from './alert-store-samples.js';
import { times } from '../samples.js';
import { fake, mongo, openTestDatabase } from '../subject.js';

for (const subject of [fake(createFakeAlertStore), ...mongo(createMongoAlertStore)])
  alertStoreContract(subject);

const onMongo = process.env['TAMIS_FAKES_ONLY'] === '1' ? test.skip : test;

onMongo(
  'a counter that was set back loses nothing: a taken id is not mistaken for a known alert',
  async () => {
    const { db, close } = await openTestDatabase();
    try {
      const store = createMongoAlertStore(db);
      await store.insert(times(30, () => sampleAlert()));
      await db
        .collection<{ _id: string; value: number }>('counters')
        .updateOne({ _id: 'alert' }, { $set: { value: 7 } });
      const batch = times(40, () => sampleAlert());
      expect(await store.insert(batch)).toEqual({ stored: 40, waiting: 40 });
      expect(await store.insert(batch)).toEqual({ stored: 0, waiting: 0 });
      expect(await store.nextWaiting('watcher-1', 1_000)).toHaveLength(70);
    } finally {
      await close();
    }
  },
);

onMongo('a stored signal holds no key of its sender, so that none can be read as an operator', async () => {
  const { db, close } = await openTestDatabase();
  try {
    const store = createMongoAlertStore(db);
    const raw = '{"$where":"1","a.b":{"$gt":""},"__proto__":{"x":1}}';
    await store.insert([sampleAlert({ raw })]);
    const [item] = await store.nextWaiting('watcher-1', 1);
    expect(await store.readWaiting([item?.id ?? 0])).toMatchObject([{ id: item?.id, raw }]);
  } finally {
    await close();
  }
});

onMongo('an alert that becomes visible late is found by the next look', async () => {
  const { db, close } = await openTestDatabase();
  try {
    const store = createMongoAlertStore(db);
    await store.insert(times(90, () => sampleAlert({ watcher: 'w' })));
    const alerts = db.collection<{ _id: number }>('alerts');
    const [early] = await store.nextWaiting('w', 1);
    const late = await alerts.findOneAndDelete({ _id: early?.id ?? 0 });
    const first = await store.nextWaiting('w', 20);
    const taken = first.map(({ id }) => id);
    await store.markForwarded(taken, new Date());
    await alerts.insertOne(late!);
    const second = (await store.nextWaiting('w', 20)).map(({ id }) => id);
    expect(second).toEqual([late!._id, ...taken.map((id) => id + 20).slice(0, 19)]);
  } finally {
    await close();
  }
});

onMongo('marks that cannot be set fail for each who asked, and those that follow are set', async () => {
  const { db, close } = await openTestDatabase();
  try {
    let isAway = false;
    const failing = Object.create(db, {
      collection: {
        value(...args: Parameters<typeof db.collection>) {
          const collection = db.collection(...args);
          const updateMany = collection.updateMany.bind(collection);
          collection.updateMany = (...given) =>
            isAway ? Promise.reject(new Error('the store is away')) : updateMany(...given);
          return collection;
        },
      },
    }) as typeof db;
    const store = createMongoAlertStore(failing);
    await store.insert(times(30, () => sampleAlert({ watcher: 'w' })));
    const ids = (await store.nextWaiting('w', 30)).map(({ id }) => id);
    const mark = (from: number) => store.markForwarded(ids.slice(from, from + 10), new Date(), [new Date()]);
    isAway = true;
    const results = await Promise.allSettled([mark(0), mark(10), mark(20)]);
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    isAway = false;
    await mark(10);
    expect((await store.nextWaiting('w', 30)).map(({ id }) => id)).toEqual([
      ...ids.slice(0, 10),
      ...ids.slice(20),
    ]);
  } finally {
    await close();
  }
});
