import { expect, test } from '@jest/globals';
import { createVectorStoreMigration } from '../../../activities/migrations/vector-store.js';
import type { ChunkIndex, ChunkIndexes } from '../../../activities/ports/migrations.js';
import type { MigrationMode } from '../../../schemas/migrations/migrations.js';
import { createFakeFileStore } from '../../support/fakes/documents/fake-file-store.js';
import { createFakePartitionStore } from '../../support/fakes/documents/fake-partition-store.js';
import { createFakeModelEndpointStore } from '../../support/fakes/models/fake-model-endpoint-store.js';

const KEPT: ChunkIndex = {
  index: 'old',
  live: false,
  schema: 3,
  step: 1,
  chunks: 1,
  shards: 1,
  replaced: null,
};
const LIVE: ChunkIndex = { ...KEPT, index: 'live', live: true, replaced: { index: 'old', writes: [0] } };

/** As much of the indexes as the start of a run asks for; the live one is blocked. */
function blockedIndexes() {
  const blocked = new Set(['live', 'old']);
  const indexes: Partial<ChunkIndexes> = {
    present: { schema: 3, step: 2, shards: null },
    list: async () => [LIVE, KEPT],
    vectorFields: async () => [],
    create: async () => 'new',
    async blockWrites(index, block) {
      if (block) blocked.add(index);
      else blocked.delete(index);
    },
  };
  return { blocked, indexes: indexes as ChunkIndexes };
}

test.each<[MigrationMode, string[]]>([
  ['run', ['old']],
  ['rollback', []],
  // Reads and counts alone.
  ['dry_run', ['live', 'old']],
])('a %s takes away the block that a run left which was ended while it switched', async (mode, left) => {
  const { blocked, indexes } = blockedIndexes();
  const migration = createVectorStoreMigration(indexes, {
    partitions: createFakePartitionStore(),
    endpoints: createFakeModelEndpointStore(),
    files: createFakeFileStore(),
  });
  const control = {
    signal: new AbortController().signal,
    isOver: () => true,
    pace: async () => undefined,
    reached: () => undefined,
  };
  await migration.slice(mode, null, control);
  expect([...blocked]).toEqual(left);
});
