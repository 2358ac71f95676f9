import type { Db } from 'mongodb';
import { Agent } from 'undici';
import type { Config } from '../schemas/config/config.js';
import { NO_IP_INFO, createIpInfo, createIpInfoSources } from './signals/ip-info/ip-info.js';
import { createOverrideModels } from './models/override-models.js';
import { connectModelSettings } from './connect-model-settings.js';
import { builtinModels, createModelRegistry } from './models/model-registry.js';
import { createModelServers } from './models/model-servers.js';
import { createEndpointModels } from './models/endpoint-models.js';
import { createSemaphores } from './models/semaphore.js';
import type { Semaphore } from './models/semaphore.js';
import { createOnnxModels } from './models/onnx/onnx-models.js';
import type { OnnxModels } from './models/onnx/onnx-models.js';
import { createStoredPromptSource } from './models/seeds/stored-prompts.js';
import { createCapiClient } from './signals/capi/capi-client.js';
import { measuredCapi } from './signals/capi/measured-capi.js';
import { measuredTasks } from './documents/measured-tasks.js';
import type {
  Adapters,
  GatewayAdapters,
  GatewayDocumentAdapters,
  RateLimits,
  WorkerAdapters,
} from './ports/adapters.js';
import { WITHOUT_DOCUMENTS } from './backups/without-documents.js';
import type { BackupAdapters } from './ports/backups.js';
import { UNMEASURED } from './ports/meter.js';
import type { Meter } from './ports/meter.js';
import { connectMongo } from './stores/mongo/connect-mongo.js';
import { createMongoAlertStore } from './stores/mongo/signals/alert-store.js';
import { createMongoApiKeyStore } from './stores/mongo/signals/api-key-store.js';
import { createMongoBlobStore } from './stores/mongo/documents/blob-store.js';
import { createGuardedDispatcher } from './outbound/address-guard.js';
import { createCallbackClient } from './outbound/callback-client.js';
import { createDownloads } from './outbound/downloads.js';
import { createImportSources } from './outbound/import-sources.js';
import { createWebSearch } from './outbound/web-search.js';
import { createMongoCallbackStore } from './stores/mongo/documents/callback-store.js';
import { createMongoClaimStore } from './stores/mongo/documents/claim-store.js';
import { createMongoCounterStore } from './stores/mongo/counters.js';
import { createMongoDecisionCopyStore } from './stores/mongo/signals/decision-copy-store.js';
import { createMongoFileStore } from './stores/mongo/documents/file-store.js';
import { createMongoLoginStore } from './stores/mongo/signals/login-store.js';
import { createMongoMetricsStore } from './stores/mongo/signals/metrics-store.js';
import { createMongoBackupRunStore } from './stores/mongo/backups/backup-run-store.js';
import { createMongoRecordArchive } from './stores/mongo/backups/record-archive.js';
import { openBackupStorage } from './stores/backups/open-backup-storage.js';
import { createMongoImportStore } from './stores/mongo/imports/import-store.js';
import { createMongoEmbedderSwapStore } from './stores/mongo/documents/embedder-swap-store.js';
import { createMongoEvaluationRunStore } from './stores/mongo/retrieval/evaluation-run-store.js';
import { createMongoConversationStore } from './stores/mongo/retrieval/conversation-store.js';
import { createMongoFeedbackStore } from './stores/mongo/retrieval/feedback-store.js';
import { createMongoQuestionSetStore } from './stores/mongo/retrieval/question-set-store.js';
import { createMongoMigrationStore } from './stores/mongo/migrations/migration-store.js';
import { createMongoRecordCollections } from './stores/mongo/migrations/record-collections.js';
import { createMongoRecordStepStore } from './stores/mongo/migrations/record-step-store.js';
import { createDefaultEmbedderMigration } from './migrations/default-embedder.js';
import { createSecretsMigration } from './migrations/secrets.js';
import { createRecordsMigration } from './migrations/records.js';
import { RECORD_STEPS } from './migrations/records/record-steps.js';
import { createVectorStoreMigration } from './migrations/vector-store.js';
import { createMongoModelEndpointStore } from './stores/mongo/models/model-endpoint-store.js';
import { createMongoPartitionStore } from './stores/mongo/documents/partition-store.js';
import { createMongoQuotaStore } from './stores/mongo/documents/quota-store.js';
import { createMongoSavedRuleStore } from './stores/mongo/signals/saved-rule-store.js';
import { createMongoStatisticsStore } from './stores/mongo/signals/statistics-store.js';
import { createMongoTaskStore } from './stores/mongo/documents/task-store.js';
import { createMongoUserStore } from './stores/mongo/documents/user-store.js';
import { createEncryption, keyFingerprint } from './stores/mongo/encryption.js';
import { createMongoSessionStore } from './stores/mongo/session-store.js';
import { withRecentCounts } from './documents/recent-counts.js';
import { createMongoWorkerStore } from './stores/mongo/documents/worker-store.js';
import { createMongoWatcherStore } from './stores/mongo/signals/watcher-store.js';
import { createMongoWorkspaceStore } from './stores/mongo/documents/workspace-store.js';
import { createMongoRecordStore } from './stores/mongo/record-store.js';
import { measuredStores } from './stores/mongo/measured-stores.js';
import { ensureIndexes } from './stores/mongo/ensure-indexes.js';
import type { Cache } from './ports/cache.js';
import { createInProcessCache } from './stores/in-process-cache.js';
import { createRedisCache } from './stores/redis/redis-cache.js';
import { connectRedis } from './stores/redis/connect-redis.js';
import { createInProcessRateLimits, createRedisRateLimits } from './stores/redis/rate-limits.js';
import { createOpenSearchChunkStore } from './stores/opensearch/chunk-store.js';
import { createChunkIndexes } from './stores/opensearch/chunk-indexes.js';
import { readDiskUse } from './stores/opensearch/disk-use.js';
import { connectOpenSearch } from './stores/opensearch/connect-opensearch.js';
import { prepareIndex } from './stores/opensearch/prepare-index.js';

/** How we name ourselves to the central API. */
const USER_AGENT = 'tamis/0.1';

const MODEL_CONNECT_MS = 5000;
const DOWNLOAD_CONNECT_MS = 10_000;
const IP_INFO_ENTRIES = 1_000;

/** A cache of this name; so many entries are kept in the process at most. */
type OpenCache = (name: string, most: number) => Cache;

const openOwnCache: OpenCache = (_name, most) => createInProcessCache(most);

/** What several gateways have in common. */
interface Shared {
  rateLimits: RateLimits;
  openCache: OpenCache;
  close(): Promise<void>;
}

/**
 * Config → what a gateway reaches outside, behind ports. Clients are made here, in `connectWorker` and in
 * `connectShared` alone. Indexes and the model endpoints of the configuration are created when missing, so that a first
 * start needs no set-up. A model server may be away: it is asked when it is first needed.
 * @throws AppError SERVICE_UNAVAILABLE when MongoDB cannot be reached, VDB_CONNECTION_ERROR when OpenSearch refuses us
 */
export async function connectGateway(
  config: Config,
  openCache: OpenCache = openOwnCache,
  meter: Meter = UNMEASURED,
): Promise<GatewayAdapters> {
  const records = await connectRecords(config, meter);
  const { db, secretsKey, formerKeys } = records;
  const backups = await connectBackups(config, records);
  const base = await connectDocuments(config, records, backups);
  const { ipLookup } = config.proxy;
  const ipInfo =
    ipLookup === null
      ? NO_IP_INFO
      : createIpInfo(
          createIpInfoSources({ ...ipLookup, userAgent: USER_AGENT }),
          openCache('ip-info', IP_INFO_ENTRIES),
        );
  const documents = base === null ? null : connectRoutes(config, records, base);
  return {
    documents,
    proxy:
      secretsKey === null || !config.services.proxy
        ? null
        : {
            ...connectSignalStores(records, secretsKey),
            ...measuredStores(
              {
                keys: createMongoApiKeyStore(db),
                savedRules: createMongoSavedRuleStore(db),
                logins: createMongoLoginStore(db, secretsKey, formerKeys),
                copies: createMongoDecisionCopyStore(db),
              },
              meter,
            ),
            ipInfo,
          },
    sessions: createMongoSessionStore(db),
    backups,
    pingRecords: () => records.ping(),
    async close() {
      backups.storage?.close();
      await Promise.allSettled([ipInfo.close(), documents?.close(), records.close()]);
    },
  };
}

/** What a gateway has besides for its document routes. */
function connectRoutes(
  config: Config,
  { keys, meter }: Records,
  { modelServers, onnx, answers, adapters }: DocumentConnections,
): GatewayDocumentAdapters {
  const foreignServers = createGuardedDispatcher({
    allowPrivate: config.chat.override.allowPrivate,
    connectTimeoutMs: MODEL_CONNECT_MS,
  });
  const { webSearch } = config.chat;
  const foreignSites = createGuardedDispatcher({
    allowPrivate: config.downloads.allowPrivateAddresses,
    connectTimeoutMs: DOWNLOAD_CONNECT_MS,
  });
  const downloads = createDownloads(foreignSites);
  return {
    ...adapters,
    tasks: withRecentCounts(adapters.tasks),
    downloads,
    modelServers: createModelServers({ dispatcher: modelServers, onnx, keys, registry: adapters.models }),
    overrides: createOverrideModels({
      endpoints: adapters.endpoints,
      keys,
      meter,
      answers,
      dispatchers: { own: modelServers, foreign: foreignServers },
      settings: {
        ...config.chat.override,
        contextTokens: config.chat.contextTokens,
        timeoutMs: config.models.llmTimeoutSeconds * 1000,
      },
    }),
    web:
      webSearch.token === null
        ? null
        : createWebSearch(modelServers, { ...webSearch, token: webSearch.token }),
    async close() {
      await Promise.allSettled([foreignServers.destroy(), downloads.close(), adapters.close()]);
    },
  };
}

/**
 * Config → what a worker reaches outside, behind ports; as `connectGateway`.
 * @throws AppError SERVICE_UNAVAILABLE when MongoDB cannot be reached, VDB_CONNECTION_ERROR when OpenSearch refuses us
 */
export async function connectWorker(config: Config, meter: Meter = UNMEASURED): Promise<WorkerAdapters> {
  const records = await connectRecords(config, meter);
  const { db, secretsKey } = records;
  const backups = await connectBackups(config, records);
  const base = await connectDocuments(config, records, backups);
  const callbackClient = createCallbackClient(config.callbacks);
  const importSources = createImportSources(config.imports);
  return {
    documents: base === null ? null : { ...base.adapters, callbackClient, importSources },
    proxy:
      secretsKey === null || !config.services.proxy
        ? null
        : {
            ...connectSignalStores(records, secretsKey),
            capi: measuredCapi(
              createCapiClient({
                baseUrl: config.proxy.capiUrl,
                timeoutMs: config.proxy.timeoutMs,
                userAgent: USER_AGENT,
              }),
              meter,
            ),
          },
    backedUp: {
      ...(base?.adapters ?? { ...recordStores(db), ...WITHOUT_DOCUMENTS }),
      backups,
    },
    pingRecords: () => records.ping(),
    async close() {
      backups.storage?.close();
      await Promise.allSettled([
        callbackClient.close(),
        importSources.close(),
        base?.adapters.close(),
        records.close(),
      ]);
    },
  };
}

/** What both sides of both processes use. */
interface Records {
  db: Db;
  /** Null without SECRETS_KEY. */
  secretsKey: Buffer | null;
  /** They open what they sealed, until it is sealed anew. */
  formerKeys: readonly Buffer[];
  keys: ReturnType<typeof createEncryption> | null;
  meter: Meter;
  ping(): Promise<void>;
  close(): Promise<void>;
}

async function connectRecords(config: Config, meter: Meter): Promise<Records> {
  const mongo = await connectMongo(config.mongodb);
  try {
    await buildIndexes(config);
  } catch (error) {
    await mongo.close();
    throw error;
  }
  const secretsKey = config.secretsKey === null ? null : Buffer.from(config.secretsKey, 'base64');
  const formerKeys = config.formerSecretsKeys.map((text) => Buffer.from(text, 'base64'));
  return {
    db: mongo.db,
    secretsKey,
    formerKeys,
    keys: secretsKey === null ? null : createEncryption(secretsKey, formerKeys),
    meter,
    ping: () => mongo.ping(),
    close: () => mongo.close(),
  };
}

/** What both processes use for documents, and what their own adapters are made of. */
interface DocumentConnections {
  /** The dispatcher towards configured model servers. */
  modelServers: Agent;
  /** Models without a server. */
  onnx: OnnxModels;
  /** The queue of each language model. */
  answers: (name: string) => Semaphore;
  adapters: Adapters;
}

/** Null where SERVICES leaves documents out. Closes the records when it fails. */
async function connectDocuments(
  config: Config,
  records: Records,
  backups: BackupAdapters,
): Promise<DocumentConnections | null> {
  if (!config.services.documents) return null;
  const { db, secretsKey, formerKeys, keys, meter } = records;
  const opensearch = connectOpenSearch(config.opensearch, meter);
  const modelServers = new Agent({ connect: { timeout: MODEL_CONNECT_MS } });
  const onnx = createOnnxModels({ folder: config.models.modelsDirectory });
  const answers = createSemaphores(config.models.llmConcurrency);
  const closing = new AbortController();
  const close = async (): Promise<void> => {
    closing.abort();
    await Promise.allSettled([opensearch.close(), modelServers.destroy(), onnx.close()]);
  };
  try {
    const { endpoints, presets, prompts } = await connectModelSettings(config, records, modelServers);
    const { partitions, files, tasks, ...others } = measuredStores(
      {
        partitions: createMongoPartitionStore(db),
        files: createMongoFileStore(db),
        tasks: createMongoTaskStore(db),
        users: createMongoUserStore(db),
        quotas: createMongoQuotaStore(db),
        workers: createMongoWorkerStore(db),
        callbacks: createMongoCallbackStore(db, secretsKey, formerKeys),
        claims: createMongoClaimStore(db),
        counters: createMongoCounterStore(db),
        recordStore: createMongoRecordStore(db),
        imports: createMongoImportStore(db, secretsKey, formerKeys),
        workspaces: createMongoWorkspaceStore(db),
        questionSets: createMongoQuestionSetStore(db),
        evaluationRuns: createMongoEvaluationRunStore(db),
        feedback: createMongoFeedbackStore(db),
        conversations: createMongoConversationStore(db),
      },
      meter,
    );
    const chunks = createOpenSearchChunkStore(opensearch.client, config.opensearch);
    const fields = (await endpoints.list('embedder')).flatMap(({ vector_field, dimension }) =>
      vector_field === null || dimension === null ? [] : [{ vectorField: vector_field, dimension }],
    );
    await prepareIndex(chunks, {
      fields,
      recordStore: await others.recordStore.id(),
      signal: closing.signal,
    });
    const models = createModelRegistry({
      endpoints,
      builders: [
        builtinModels,
        createEndpointModels({
          dispatcher: modelServers,
          onnx,
          endpoints,
          chunks,
          keys,
          meter,
          answers,
          settings: config.models,
        }),
      ],
      contextTokens: config.chat.contextTokens,
    });
    const collections = createMongoRecordCollections(db);
    const indexes = createChunkIndexes(opensearch.client, config.opensearch);
    const adapters = {
      ...others,
      partitions,
      files,
      tasks: measuredTasks(tasks, meter),
      // Uncounted: an upload takes as long as its client.
      blobs: createMongoBlobStore(db),
      endpoints,
      presets,
      prompts,
      chunks,
      models,
      promptSource: createStoredPromptSource(prompts),
      embedderSwaps: createMongoEmbedderSwapStore(db),
      migrations: {
        store: createMongoMigrationStore(db),
        indexes,
        migrations: [
          createDefaultEmbedderMigration({ partitions, endpoints, files }),
          createRecordsMigration(
            { records: collections, steps: createMongoRecordStepStore(db) },
            RECORD_STEPS,
          ),
          createSecretsMigration({ records: collections, keys }),
          createVectorStoreMigration(indexes, { partitions, endpoints, files }),
        ],
      },
      backups,
      probes: {
        mongodb: () => records.ping(),
        opensearch: () => opensearch.ping(),
        diskUse: () => readDiskUse(opensearch.client),
      },
      close,
    };
    return { modelServers, onnx, answers, adapters };
  } catch (error) {
    await Promise.allSettled([close(), records.close()]);
    throw error;
  }
}

/** Backups, of whichever sides there are. */
async function connectBackups(
  config: Config,
  { db, secretsKey, formerKeys, keys }: Records,
): Promise<BackupAdapters> {
  const secrets = createSecretsMigration({ records: createMongoRecordCollections(db), keys });
  return {
    storage: await openBackupStorage(config.backups),
    runs: createMongoBackupRunStore(db),
    archive: createMongoRecordArchive(db),
    keyFingerprints: [secretsKey, ...formerKeys].flatMap((key) =>
      key === null ? [] : [keyFingerprint(key)],
    ),
    needsFormerKeys: async () => (await secrets.pending()) !== null,
    knownSteps: RECORD_STEPS.map(({ name }) => name),
    hasDocuments: config.services.documents,
  };
}

/** The stores of documents' records that a restore goes through. */
function recordStores(db: Db) {
  return {
    files: createMongoFileStore(db),
    blobs: createMongoBlobStore(db),
    claims: createMongoClaimStore(db),
    counters: createMongoCounterStore(db),
    endpoints: createMongoModelEndpointStore(db),
    quotas: createMongoQuotaStore(db),
    recordStore: createMongoRecordStore(db),
  };
}

/** Those that both processes use. */
function connectSignalStores({ db, formerKeys, meter }: Records, secretsKey: Buffer) {
  return measuredStores(
    {
      alerts: createMongoAlertStore(db),
      statistics: createMongoStatisticsStore(db),
      watchers: createMongoWatcherStore(db, secretsKey, formerKeys),
      metrics: createMongoMetricsStore(db),
    },
    meter,
  );
}

/**
 * Rate limits and caches, shared through Redis where there is one. It is neither waited for nor needed: `onRedis` is
 * told each time it comes and goes.
 */
export function connectShared(
  { redis }: Pick<Config, 'redis'>,
  onRedis: (state: 'ready' | 'away', cause?: Error) => void,
): Shared {
  if (redis.url === null)
    return {
      rateLimits: createInProcessRateLimits(),
      openCache: openOwnCache,
      close: async () => undefined,
    };
  const connection = connectRedis({ ...redis, url: redis.url }, onRedis);
  return {
    rateLimits: createRedisRateLimits(connection, redis.keyPrefix),
    openCache: (name, most) =>
      createRedisCache(connection, `${redis.keyPrefix}cache:${name}:`, createInProcessCache(most)),
    close: () => connection.close(),
  };
}

async function buildIndexes(config: Config): Promise<void> {
  const mongo = await connectMongo({ ...config.mongodb, isPatient: true });
  try {
    await ensureIndexes(mongo.db);
  } finally {
    await mongo.close();
  }
}
