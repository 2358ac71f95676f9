import { randomBytes } from 'node:crypto';
import type { Db } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ModelEndpoint } from '../../../schemas/models/model-endpoints.js';
import { createSecretsMigration } from '../../../activities/migrations/secrets.js';
import { openModelKey, sealModelKey } from '../../../activities/models/model-key.js';
import { createEncryption } from '../../../activities/stores/mongo/encryption.js';
import { createMongoCallbackStore } from '../../../activities/stores/mongo/documents/callback-store.js';
import type { RecordCollections } from '../../../activities/ports/migrations.js';
import { createMongoRecordCollections } from '../../../activities/stores/mongo/migrations/record-collections.js';
import { createMongoModelEndpointStore } from '../../../activities/stores/mongo/models/model-endpoint-store.js';
import { createMongoLoginStore } from '../../../activities/stores/mongo/signals/login-store.js';
import { createMongoImportStore } from '../../../activities/stores/mongo/imports/import-store.js';
import { createMongoWatcherStore } from '../../../activities/stores/mongo/signals/watcher-store.js';
import { runMigration, sliceControl } from '../../support/run-migration.js';
import { openTestDatabase } from '../subject.js';

const [OLD, NEW] = [randomBytes(32), randomBytes(32)];
const LATER = new Date(Date.now() + 3_600_000);

/** The stores that keep secrets, under the keys of one configuration. */
function storesWith(db: Db, key: Buffer, former: readonly Buffer[] = []) {
  const keys = createEncryption(key, former);
  // The server's own estimate may be behind for as long as a collection is small: what is added up here are counts.
  const records: RecordCollections = {
    ...createMongoRecordCollections(db),
    estimate: (collection) => db.collection(collection).countDocuments(),
  };
  return {
    keys,
    endpoints: createMongoModelEndpointStore(db),
    callbacks: createMongoCallbackStore(db, key, former),
    watchers: createMongoWatcherStore(db, key, former),
    imports: createMongoImportStore(db, key, former),
    logins: createMongoLoginStore(db, key, former),
    migration: createSecretsMigration({ records, keys }),
  };
}
type Stores = ReturnType<typeof storesWith>;

function endpointNamed(name: string): ModelEndpoint {
  const at = new Date('2026-01-01');
  return {
    name,
    model_type: 'llm',
    endpoint: 'http://models:1/v1',
    model_name: 'm',
    provider: 'openai',
    sealed_api_key: null,
    batch_size: 8,
    timeout: 30,
    extra: {},
    vector_field: null,
    dimension: null,
    context_tokens: null,
    text_form: null,
    probed_at: null,
    created_at: at,
    updated_at: at,
  };
}

async function write(stores: Stores, name: string): Promise<void> {
  const endpoint = endpointNamed(name);
  await stores.endpoints.seed({
    ...endpoint,
    sealed_api_key: sealModelKey(stores.keys, endpoint, `key of ${name}`),
  });
  await stores.callbacks.insert({ taskId: name, url: 'https://a.example/', token: `callback of ${name}` });
  await stores.callbacks.insert({ taskId: `${name}-bare`, url: 'https://a.example/', token: null });
  await stores.watchers.saveToken(name, `token of ${name}`, LATER);
  await stores.imports.putSource({ source_id: name, url: 'https://a.example', token: `source of ${name}` });
  await stores.logins.remember(
    name,
    'a-password',
    { watcher: name, token: `login of ${name}`, expiresAt: LATER, scenarios: 's' },
    new Date(),
  );
}

async function read(stores: Stores, name: string): Promise<unknown[]> {
  const endpoint = await stores.endpoints.get('llm', name);
  return [
    openModelKey(stores.keys, endpoint!),
    (await stores.callbacks.get(name))?.token,
    (await stores.watchers.token(name))?.token,
    await stores.imports.openToken(name),
    (await stores.logins.recall(name, 'a-password'))?.token,
  ];
}

function secretsOf(name: string): string[] {
  return ['key', 'callback', 'token', 'source', 'login'].map((each) => `${each} of ${name}`);
}

const describeOnMongo = process.env['TAMIS_FAKES_ONLY'] === '1' ? describe.skip : describe;

describeOnMongo('a change of SECRETS_KEY', () => {
  let opened: Awaited<ReturnType<typeof openTestDatabase>>;
  function db(): Db {
    return opened.db;
  }
  let both: Stores;
  afterAll(() => opened.close());
  beforeAll(async () => {
    opened = await openTestDatabase();
    await write(storesWith(db(), OLD), 'old');
    both = storesWith(db(), NEW, [OLD]);
    await write(both, 'new');
  });

  test('reads what either key sealed, and knows that something is left to do', async () => {
    expect(await read(both, 'old')).toEqual(secretsOf('old'));
    expect(await read(both, 'new')).toEqual(secretsOf('new'));
    expect(await both.logins.recall('old', 'another-password')).toBeNull();
    expect(await both.migration.pending()).toMatchObject({ amount: 12, dark: [], obstacle: null });
    expect(await storesWith(db(), OLD).migration.pending()).toBeNull();
  });

  test('a dry run counts and changes nothing', async () => {
    const { last } = await runMigration(both.migration, 'dry_run');
    expect(last.figures).toEqual({ resealed: 5, unreadable: 0 });
    expect(await read(storesWith(db(), OLD), 'old')).toEqual(secretsOf('old'));
    await expect(runMigration(both.migration, 'verify')).rejects.toMatchObject({
      code: 'MIGRATION_NOT_VERIFIED',
      message: '5 secrets are sealed with another key than the present one.',
    });
    expect(await read(storesWith(db(), OLD), 'old')).toEqual(secretsOf('old'));
  });

  test('a run seals with the new key, and what no key opens stays as it is', async () => {
    await storesWith(db(), randomBytes(32)).watchers.saveToken('lost', 'a token', LATER);
    const { last } = await runMigration(both.migration, 'run');
    expect(last).toMatchObject({ ended: true, figures: { resealed: 5, unreadable: 1 } });
    const only = storesWith(db(), NEW);
    expect(await read(only, 'new')).toEqual(secretsOf('new'));
    const [key, callback, token, source] = await read(only, 'old');
    expect([key, callback, token, source]).toEqual(secretsOf('old').slice(0, 4));
    // Whose password it was is told by a digest that only the old key makes: CAPI is asked again.
    expect(await only.logins.recall('old', 'a-password')).toBeNull();
    expect((await both.logins.recall('old', 'a-password'))?.token).toBe('login of old');
    expect(await both.migration.pending()).toBeNull();
    expect((await runMigration(both.migration, 'run')).last.figures).toEqual({ resealed: 0, unreadable: 1 });
    await expect(runMigration(both.migration, 'verify')).rejects.toMatchObject({
      message: '1 secrets cannot be opened with the keys there are.',
    });
  });

  test('a token that is replaced meanwhile stays the newer one', async () => {
    await storesWith(db(), OLD).watchers.saveToken('racing', 'first', new Date(LATER.getTime() - 1));
    const records = createMongoRecordCollections(db());
    const racing = createSecretsMigration({
      keys: both.keys,
      records: {
        ...records,
        async change(collection, fields, changes) {
          if (collection === 'watchers') await both.watchers.saveToken('racing', 'second', LATER);
          return records.change(collection, fields, changes);
        },
      },
    });
    let slice = await racing.slice('run', null, sliceControl());
    while (!slice.ended) slice = await racing.slice('run', slice.position, sliceControl());
    expect((await storesWith(db(), NEW).watchers.token('racing'))?.token).toBe('second');
  });
});
