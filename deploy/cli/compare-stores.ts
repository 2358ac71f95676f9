import { checkStores } from '../../activities/documents/clean-up/check-stores.js';
import type { ComparedStores, Drift } from '../../activities/documents/clean-up/check-stores.js';
import { connectMongo } from '../../activities/stores/mongo/connect-mongo.js';
import { createMongoBlobStore } from '../../activities/stores/mongo/documents/blob-store.js';
import { createMongoClaimStore } from '../../activities/stores/mongo/documents/claim-store.js';
import { createMongoFileStore } from '../../activities/stores/mongo/documents/file-store.js';
import { createMongoPartitionStore } from '../../activities/stores/mongo/documents/partition-store.js';
import { createMongoQuotaStore } from '../../activities/stores/mongo/documents/quota-store.js';
import { createMongoTaskStore } from '../../activities/stores/mongo/documents/task-store.js';
import { createOpenSearchChunkStore } from '../../activities/stores/opensearch/chunk-store.js';
import { connectOpenSearch } from '../../activities/stores/opensearch/connect-opensearch.js';
import { hasEngineType } from '../../activities/stores/opensearch/opensearch-errors.js';
import { ConfigError } from '../../schemas/config/config-error.js';
import { parseConfig } from '../../schemas/config/config.js';
import type { Config } from '../../schemas/config/config.js';

/**
 * Where the record store, the blobs and the chunks disagree. Not connected as a process of the service is, which builds
 * indexes and seeds presets, prompts and endpoints by its settings: an operator's may differ.
 * @throws ConfigError, AppError
 */
export async function compareStores(environment: Record<string, string>): Promise<Drift[]> {
  const config = parseConfig(environment);
  if (!config.services.documents)
    throw new ConfigError('SERVICES leaves documents out: there is nothing to compare');
  const mongo = await connectMongo(config.mongodb);
  const opensearch = connectOpenSearch(config.opensearch);
  try {
    const { db } = mongo;
    const stores: ComparedStores = {
      partitions: createMongoPartitionStore(db),
      files: createMongoFileStore(db),
      tasks: createMongoTaskStore(db),
      quotas: createMongoQuotaStore(db),
      claims: createMongoClaimStore(db),
      blobs: createMongoBlobStore(db),
      chunks: createReadChunks(opensearch, config),
    };
    return await checkStores(stores, {
      deduplicate: config.documents.deduplicate,
      keepUploads: config.documents.saveUploadedFiles,
    });
  } finally {
    await Promise.allSettled([opensearch.close(), mongo.close()]);
  }
}

/** An index that is not there yet holds no chunks. */
function createReadChunks(
  { client }: ReturnType<typeof connectOpenSearch>,
  { opensearch }: Pick<Config, 'opensearch'>,
): ComparedStores['chunks'] {
  const chunks = createOpenSearchChunkStore(client, opensearch);
  return {
    async *scanGenerations() {
      try {
        yield* chunks.scanGenerations();
      } catch (error) {
        if (!hasEngineType(error, 'index_not_found_exception')) throw error;
      }
    },
  };
}
