import { randomBytes } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { createMongoWatcherStore } from '../../../activities/stores/mongo/signals/watcher-store.js';
import { createFakeWatcherStore } from '../../support/fakes/signals/fake-watcher-store.js';
import { fake, mongo, openTestDatabase } from '../subject.js';
import { watcherStoreContract } from './watcher-store.contract.js';

const KEY = randomBytes(32);
for (const subject of [fake(createFakeWatcherStore), ...mongo((db) => createMongoWatcherStore(db, KEY, []))])
  watcherStoreContract(subject);

const onMongo = process.env['TAMIS_FAKES_ONLY'] === '1' ? test.skip : test;

onMongo('with another SECRETS_KEY a stored token is CONFIG_ERROR, and the next login mends it', async () => {
  const { db, close } = await openTestDatabase();
  try {
    await createMongoWatcherStore(db, KEY, []).saveToken('w', 'token-1', new Date(1_000));
    const other = createMongoWatcherStore(db, randomBytes(32), []);
    await expect(other.token('w')).rejects.toMatchObject({
      code: 'CONFIG_ERROR',
      retryable: false,
      message: expect.stringContaining('SECRETS_KEY'),
    });
    expect(await other.saveToken('w', 'token-2', new Date(2_000))).toMatchObject({ newer: true });
    expect((await other.token('w'))?.token).toBe('token-2');
  } finally {
    await close();
  }
});

onMongo('no token stands in the database, and one copied to another watcher does not open', async () => {
  const { db, close } = await openTestDatabase();
  try {
    const store = createMongoWatcherStore(db, KEY, []);
    await store.saveToken('a', 'token-of-a', null);
    await store.saveToken('b', 'token-of-b', null);
    const watchers = db.collection<{ _id: string; token: { box: string } }>('watchers');
    const documents = await watchers.find().toArray();
    expect(JSON.stringify(documents)).not.toContain('token-of');
    const box = documents.find(({ _id }) => _id === 'a')?.token.box ?? '';
    await watchers.updateOne({ _id: 'b' }, { $set: { 'token.box': box } });
    await expect(store.token('b')).rejects.toMatchObject({ code: 'CONFIG_ERROR' });
  } finally {
    await close();
  }
});

onMongo('a key that is not 32 bytes long is refused at once', async () => {
  const { db, close } = await openTestDatabase();
  try {
    expect(() => createMongoWatcherStore(db, randomBytes(16), [])).toThrow('SECRETS_KEY must be 32 bytes');
  } finally {
    await close();
  }
});

onMongo('a refusal that was cut short after its first half still ends in a login', async () => {
  const { db, close } = await openTestDatabase();
  try {
    const store = createMongoWatcherStore(db, KEY, []);
    await store.saveToken('w', 'token-1', new Date(Date.UTC(2026, 2, 1)));
    const { digest } = (await store.token('w'))!;
    await db
      .collection<{ _id: string; refused: string[] }>('watchers')
      .updateOne({ _id: 'w' }, { $set: { refused: [digest] } });
    expect(await store.takeLoginWanted('w', new Date())).toBe(false);
    await store.wantLogin('w');
    expect(await store.takeLoginWanted('w', new Date())).toBe(true);
  } finally {
    await close();
  }
});
