import { expect, test } from '@jest/globals';
import { createMongoPartitionStore } from '../../../activities/stores/mongo/documents/partition-store.js';
import { openTestDatabase } from '../subject.js';

const onMongo = process.env['TAMIS_FAKES_ONLY'] === '1' ? test.skip : test;

onMongo(
  'partitions without an embedder, as releases up to 2.2 wrote them, are on the default one',
  async () => {
    const { db, close } = await openTestDatabase();
    try {
      const store = createMongoPartitionStore(db);
      const own = { created_by: 7, created_at: new Date(), members: [{ user_id: 7, role: 'owner' }] };
      const partitions = db.collection<{ _id: string; embedder?: string | null }>('partitions');
      await partitions.insertMany([
        { _id: 'missing', ...own },
        { _id: 'null', embedder: null, ...own },
        { _id: 'named', embedder: 'default', ...own },
        { _id: 'other', embedder: 'other', ...own },
      ]);
      const listed = async () =>
        (await store.list({ kind: 'all', userId: 0 })).map(({ partition, embedder }) => [
          partition,
          embedder,
        ]);
      expect(await listed()).toEqual([
        ['missing', 'default'],
        ['named', 'default'],
        ['null', 'default'],
        ['other', 'other'],
      ]);
      const guard = { embedder: 'default' };
      expect(await store.update('missing', { embedder: 'bge' }, guard)).toMatchObject({ embedder: 'bge' });
      expect(await store.update('null', { embedder: 'bge' }, guard)).toMatchObject({ embedder: 'bge' });
      expect(await store.update('missing', { embedder: 'else' }, guard)).toBeNull();
      expect(await store.update('other', { embedder: 'bge' }, guard)).toBeNull();
      await partitions.updateOne({ _id: 'null' }, { $set: { embedder: null } });
      await store.renameReference('embedder', 'default', 'bge');
      expect(await listed()).toEqual([
        ['missing', 'bge'],
        ['named', 'bge'],
        ['null', 'bge'],
        ['other', 'other'],
      ]);
    } finally {
      await close();
    }
  },
);
