import { expect, test } from '@jest/globals';
import { createMongoSessionStore } from '../../activities/stores/mongo/session-store.js';
import { createFakeSessionStore } from '../support/fakes/fake-session-store.js';
import { sessionStoreContract } from './session-store.contract.js';
import { fake, mongo, openTestDatabase } from './subject.js';

for (const subject of [fake(createFakeSessionStore), ...mongo(createMongoSessionStore)])
  sessionStoreContract(subject);

test('the server is told to remove sessions at their end', async () => {
  const { db, close } = await openTestDatabase();
  const indexes = await db.collection('sessions').indexes();
  expect(indexes).toContainEqual(expect.objectContaining({ key: { expires_at: 1 }, expireAfterSeconds: 0 }));
  await close();
});
