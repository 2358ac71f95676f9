import { randomBytes } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { createMongoLoginStore } from '../../../activities/stores/mongo/signals/login-store.js';
import { createFakeLoginStore } from '../../support/fakes/signals/fake-login-store.js';
import { loginStoreContract } from './login-store.contract.js';
import { fake, mongo, openTestDatabase } from '../subject.js';

const KEY = randomBytes(32);
for (const subject of [fake(createFakeLoginStore), ...mongo((db) => createMongoLoginStore(db, KEY, []))])
  loginStoreContract(subject);

const onMongo = process.env['TAMIS_FAKES_ONLY'] === '1' ? test.skip : test;

onMongo('neither password nor token stands in the database, and equal passwords look different', async () => {
  const { db, close } = await openTestDatabase();
  try {
    const store = createMongoLoginStore(db, KEY, []);
    const at = new Date(0);
    for (const name of ['a', 'b'])
      await store.remember(
        name,
        'hunter2-password',
        { watcher: name, token: `token-of-${name}`, expiresAt: at, scenarios: 's' },
        at,
      );
    await store.block('c', 'hunter2-password', { status: 403, message: 'm', at, until: at });
    const documents = await db
      .collection<{ _id: string; login?: { proof: string } }>('logins')
      .find()
      .toArray();
    expect(JSON.stringify(documents)).not.toMatch(/hunter2|token-of/);
    const proofs = documents.flatMap(({ login }) => (login === undefined ? [] : [login.proof]));
    expect(new Set(proofs).size).toBe(2);
    // With another key nothing is recalled, and nothing breaks.
    expect(await createMongoLoginStore(db, randomBytes(32), []).recall('a', 'hunter2-password')).toBeNull();
  } finally {
    await close();
  }
});
