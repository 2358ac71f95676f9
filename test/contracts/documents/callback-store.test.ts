import { randomBytes } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { createMongoCallbackStore } from '../../../activities/stores/mongo/documents/callback-store.js';
import { createFakeCallbackStore } from '../../support/fakes/documents/fake-callback-store.js';
import { callbackStoreContract } from './callback-store.contract.js';
import { fake, mongo, openTestDatabase } from '../subject.js';

const key = randomBytes(32);
for (const subject of [
  fake(createFakeCallbackStore),
  ...mongo((db) => createMongoCallbackStore(db, key, [])),
])
  callbackStoreContract(subject);

test('a token is sealed in the record, and not taken without a key', async () => {
  const { db, close } = await openTestDatabase();
  await createMongoCallbackStore(db, key, []).insert({
    taskId: 't',
    url: 'https://a.b/',
    token: 'plain-s3cret',
  });
  expect(JSON.stringify(await db.collection('callbacks').find().toArray())).not.toContain('plain-s3cret');
  const keyless = createMongoCallbackStore(db, null, []);
  await expect(keyless.insert({ taskId: 'u', url: 'https://a.b/', token: 'x' })).rejects.toMatchObject({
    code: 'SERVICE_UNAVAILABLE',
  });
  await keyless.insert({ taskId: 'v', url: 'https://a.b/', token: null });
  await close();
});
