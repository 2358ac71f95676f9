import { expect, test } from '@jest/globals';
import { createMongoAlertStore } from '../../activities/stores/mongo/alert-store.js';
import { createFakeAlertStore } from '../support/fakes/fake-alert-store.js';
import { alertStoreContract } from './alert-store.contract.js';
import { sampleAlert } from './alert-store-samples.js';
import { times } from './samples.js';
import { fake, mongo, openTestDatabase } from './subject.js';

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
    expect(await store.readWaiting([item?.id ?? 0])).toEqual([{ id: item?.id, raw }]);
  } finally {
    await close();
  }
});
