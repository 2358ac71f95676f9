import { randomBytes } from 'node:crypto';
import { afterAll, describe, expect, test } from '@jest/globals';
import { createMongoImportStore } from '../../../activities/stores/mongo/imports/import-store.js';
import { createFakeImportStore } from '../../support/fakes/imports/fake-import-store.js';
import { fake, mongo, openTestDatabase } from '../subject.js';
import { importStoreContract } from './import-store.contract.js';

const KEY = randomBytes(32);

for (const subject of [fake(createFakeImportStore), ...mongo((db) => createMongoImportStore(db, KEY, []))])
  importStoreContract(subject);

describe('tokens of sources in MongoDB', () => {
  const opened: { close(): Promise<void> }[] = [];
  afterAll(async () => {
    for (const { close } of opened) await close();
  });

  test('are sealed for their source, and not taken without SECRETS_KEY', async () => {
    if (process.env['TAMIS_FAKES_ONLY'] === '1') return;
    const database = await openTestDatabase();
    opened.push(database);
    const { db } = database;
    const source = { source_id: 'old', url: 'http://old.example', token: 'or-secret' };
    await createMongoImportStore(db, KEY, []).putSource(source);
    expect(JSON.stringify(await db.collection('import_sources').find().toArray())).not.toContain('or-secret');
    await expect(createMongoImportStore(db, randomBytes(32), []).openToken('old')).rejects.toMatchObject({
      code: 'CONFIG_ERROR',
    });
    const withoutKey = createMongoImportStore(db, null, []);
    await expect(withoutKey.putSource(source)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    await expect(withoutKey.openToken('old')).rejects.toMatchObject({ code: 'CONFIG_ERROR' });
  });
});
