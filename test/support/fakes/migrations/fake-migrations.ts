import type {
  ChunkIndex,
  ChunkIndexes,
  Migration,
  PendingMigration,
} from '../../../../activities/ports/migrations.js';
import { AppError } from '../../../../schemas/app-error.js';
import { createFakeMigrationStore } from './fake-migration-store.js';

const LIVE: ChunkIndex = {
  index: 'chunks-v3-2',
  live: true,
  schema: 3,
  step: 2,
  chunks: 5,
  shards: 1,
  replaced: null,
};

/** What the routes of migrations ask: one migration whose state a test sets, and the list of indexes. */
export function createFakeMigrations() {
  const state = {
    pending: null as PendingMigration | null,
    /** What looking for it throws. */
    fault: null as Error | null,
    /** To these no write comes. */
    blocked: new Set<string>(),
    indexes: [LIVE, { ...LIVE, index: 'chunks-v3', live: false, step: 1 }] as ChunkIndex[],
  };
  const vectorStore: Migration = {
    name: 'vector-store',
    title: 'Brings the index of the chunks to the shape of this release',
    unit: 'chunks',
    modes: ['dry_run', 'run', 'verify'],
    async pending() {
      if (state.fault !== null) throw state.fault;
      return state.pending;
    },
    async slice() {
      throw new Error('the gateway runs no migration');
    },
    async abandon() {},
  };
  const indexes: Pick<ChunkIndexes, 'list' | 'drop' | 'blockWrites'> = {
    list: async () => state.indexes,
    async blockWrites(index, blocked) {
      if (blocked) state.blocked.add(index);
      else state.blocked.delete(index);
    },
    async drop(index) {
      const found = state.indexes.find((one) => one.index === index);
      if (found === undefined) throw new AppError('NOT_FOUND', `There is no index ${index}.`);
      if (found.live) throw new AppError('MIGRATION_NOT_POSSIBLE', 'Searches go to it.');
      state.indexes = state.indexes.filter((one) => one !== found);
    },
  };
  return { state, store: createFakeMigrationStore(), indexes, migrations: [vectorStore] };
}
