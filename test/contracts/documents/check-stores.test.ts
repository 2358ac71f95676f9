import { createMongoBlobStore } from '../../../activities/stores/mongo/documents/blob-store.js';
import { createMongoClaimStore } from '../../../activities/stores/mongo/documents/claim-store.js';
import { createMongoFileStore } from '../../../activities/stores/mongo/documents/file-store.js';
import { createMongoPartitionStore } from '../../../activities/stores/mongo/documents/partition-store.js';
import { createMongoQuotaStore } from '../../../activities/stores/mongo/documents/quota-store.js';
import { createMongoTaskStore } from '../../../activities/stores/mongo/documents/task-store.js';
import { createFakeStores } from '../../support/fakes/create-fake-stores.js';
import { checkStoresContract } from './check-stores.contract.js';
import type { CheckedStores } from './check-stores.contract.js';
import { fake, openTestDatabase, openTestIndex } from '../subject.js';
import type { Subject } from '../subject.js';

const real: Subject<CheckedStores> = {
  name: 'MongoDB and OpenSearch',
  async open() {
    const database = await openTestDatabase();
    const index = await openTestIndex();
    const users = database.db.collection<{ _id: number; display_name: string }>('users');
    await users.insertOne({ _id: 1, display_name: 'Admin' });
    return {
      store: {
        partitions: createMongoPartitionStore(database.db),
        files: createMongoFileStore(database.db),
        tasks: createMongoTaskStore(database.db),
        quotas: createMongoQuotaStore(database.db),
        claims: createMongoClaimStore(database.db),
        blobs: createMongoBlobStore(database.db),
        chunks: index.store,
      },
      async close() {
        await Promise.all([database.close(), index.close()]);
      },
    };
  },
};

for (const subject of [
  fake<CheckedStores>(createFakeStores),
  ...(process.env['TAMIS_FAKES_ONLY'] === '1' ? [] : [real]),
])
  checkStoresContract(subject);
