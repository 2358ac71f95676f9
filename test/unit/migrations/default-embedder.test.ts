import { beforeEach, describe, expect, test } from '@jest/globals';
import { createDefaultEmbedderMigration } from '../../../activities/migrations/default-embedder.js';
import type { Migration } from '../../../activities/ports/migrations.js';
import { BUILTIN_ENDPOINTS } from '../../../activities/models/builtin/builtin-endpoints.js';
import type { ModelEndpoint } from '../../../schemas/models/model-endpoints.js';
import { sampleVersion } from '../../contracts/samples.js';
import { createFakeStores } from '../../support/fakes/create-fake-stores.js';
import { runMigration } from '../../support/run-migration.js';

const BUILTIN = BUILTIN_ENDPOINTS[0]!;

function endpoint(name: string): ModelEndpoint {
  return {
    ...BUILTIN,
    name,
    endpoint: 'http://127.0.0.1:9',
    provider: 'openai',
    model_name: name,
  };
}

const IMPOSSIBLE = {
  code: 'MIGRATION_NOT_POSSIBLE',
  message: expect.stringContaining('mark the embedder that made their vectors as the default'),
};

let stores: ReturnType<typeof createFakeStores>;
let migration: Migration;

beforeEach(async () => {
  stores = createFakeStores();
  migration = createDefaultEmbedderMigration(stores);
  await stores.endpoints.seed(BUILTIN);
  await stores.endpoints.setDefaultIfUnset('embedder', BUILTIN.name);
  for (const name of ['bge', 'other']) await stores.endpoints.seed(endpoint(name));
  for (const [partition, embedder] of [
    ['papers', 'default'],
    ['mail', 'default'],
    ['own', 'other'],
  ] as const)
    await stores.partitions.create({ partition, embedder, ownerId: 7 });
  await stores.files.admitFirst({
    partition: 'papers',
    fileId: 'a',
    fileKey: 'key',
    partitionKey: 'pk',
    userId: 7,
    taskId: 'task',
    generation: 1,
  });
  await stores.files.publish(
    'key',
    'task',
    sampleVersion({ task_id: 'task', generation: 1, embedder: 'default' }),
  );
});

async function embedders() {
  return Object.fromEntries(
    (await stores.partitions.list({ kind: 'all', userId: 0 })).map((record) => [
      record.partition,
      record.embedder,
    ]),
  );
}

describe('the migration of the default embedder', () => {
  test('stops while no embedder is marked but the built-in one, and completes once one is', async () => {
    expect(await migration.pending()).toMatchObject({
      amount: 2,
      dark: ['searches', 'uploads', 'chats'],
      obstacle: IMPOSSIBLE.message,
    });
    await expect(runMigration(migration, 'run')).rejects.toMatchObject(IMPOSSIBLE);
    await expect(runMigration(migration, 'dry_run')).rejects.toMatchObject(IMPOSSIBLE);
    // A default that is not registered any more, and none at all.
    await stores.endpoints.setDefault('embedder', 'gone');
    await expect(runMigration(migration, 'run')).rejects.toMatchObject(IMPOSSIBLE);
    await stores.endpoints.moveDefault('embedder', 'gone', null);
    await expect(runMigration(migration, 'run')).rejects.toMatchObject(IMPOSSIBLE);
    expect(await embedders()).toEqual({ papers: 'default', mail: 'default', own: 'other' });

    await stores.endpoints.setDefault('embedder', 'bge');
    expect(await migration.pending()).toMatchObject({ amount: 2, obstacle: null });
    expect((await runMigration(migration, 'run')).last).toMatchObject({ ended: true, done: 2, total: 2 });
    expect(await embedders()).toEqual({ papers: 'bge', mail: 'bge', own: 'other' });
    expect((await stores.files.get('papers', 'a'))?.live?.embedder).toBe('bge');
    expect(await migration.pending()).toBeNull();
  });

  test('a verification fails until all are tied', async () => {
    await expect(runMigration(migration, 'verify')).rejects.toMatchObject({
      code: 'MIGRATION_NOT_VERIFIED',
      message: expect.stringMatching(/2 partitions .* 1 files/),
    });
    await stores.endpoints.setDefault('embedder', 'bge');
    await runMigration(migration, 'run');
    expect((await runMigration(migration, 'verify')).last.figures).toEqual({ partitions: 0, files: 0 });
  });

  test('a dry run changes nothing', async () => {
    await stores.endpoints.setDefault('embedder', 'bge');
    expect((await runMigration(migration, 'dry_run')).last).toMatchObject({
      ended: true,
      done: 0,
      total: 2,
      figures: { partitions: 2 },
    });
    expect(await embedders()).toEqual({ papers: 'default', mail: 'default', own: 'other' });
  });

  test('what is tied stays, also when another becomes the default afterwards', async () => {
    await stores.endpoints.setDefault('embedder', 'bge');
    await runMigration(migration, 'run');
    await stores.endpoints.setDefault('embedder', 'other');
    expect((await runMigration(migration, 'run')).last).toMatchObject({ ended: true, done: 0 });
    expect(await embedders()).toMatchObject({ papers: 'bge', mail: 'bge' });
  });

  test('an endpoint that is called so is what they use: there is nothing to do', async () => {
    await stores.endpoints.seed(endpoint('default'));
    expect(await migration.pending()).toBeNull();
    await runMigration(migration, 'run');
    expect(await embedders()).toMatchObject({ papers: 'default' });
  });

  test('ties more than a page of them', async () => {
    for (let index = 0; index < 250; index += 1)
      await stores.partitions.create({ partition: `p${index}`, embedder: 'default', ownerId: 7 });
    await stores.endpoints.setDefault('embedder', 'bge');
    const { slices, last } = await runMigration(migration, 'run');
    expect({ slices, done: last.done }).toEqual({ slices: 4, done: 252 });
    expect(new Set(Object.values(await embedders()))).toEqual(new Set(['bge', 'other']));
  });
});
