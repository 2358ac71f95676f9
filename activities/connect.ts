import { Agent } from 'undici';
import type { Config } from '../schemas/config/config.js';
import { NO_IP_INFO, createIpInfo, createIpInfoSources } from './signals/ip-info/ip-info.js';
import { createOverrideModels } from './models/override-models.js';
import { discoverOllama } from './models/servers/discover-ollama.js';
import { builtinModels, createModelRegistry } from './models/model-registry.js';
import { createModelServers } from './models/model-servers.js';
import { createEndpointModels } from './models/endpoint-models.js';
import { seedEndpoints } from './models/seeds/seed-endpoints.js';
import { BUNDLED_PROMPTS } from './models/seeds/bundled-prompts.js';
import { createStoredPromptSource } from './models/seeds/stored-prompts.js';
import { seededPresets } from './models/seeds/seeded-presets.js';
import { createCapiClient } from './signals/capi/capi-client.js';
import type { ChatAdapters } from './ports/chat.js';
import type { Adapters, RateLimits } from './ports/adapters.js';
import type { ProxyAdapters } from './ports/signals.js';
import { connectMongo } from './stores/mongo/connect-mongo.js';
import { createMongoAlertStore } from './stores/mongo/signals/alert-store.js';
import { createMongoApiKeyStore } from './stores/mongo/signals/api-key-store.js';
import { createMongoBlobStore } from './stores/mongo/documents/blob-store.js';
import { createGuardedDispatcher } from './outbound/address-guard.js';
import { createCallbackClient } from './outbound/callback-client.js';
import { createWebSearch } from './outbound/web-search.js';
import { createMongoCallbackStore } from './stores/mongo/documents/callback-store.js';
import { createMongoClaimStore } from './stores/mongo/documents/claim-store.js';
import { createMongoCounterStore } from './stores/mongo/counters.js';
import { createMongoDecisionCopyStore } from './stores/mongo/signals/decision-copy-store.js';
import { createMongoFileStore } from './stores/mongo/documents/file-store.js';
import { createMongoLoginStore } from './stores/mongo/signals/login-store.js';
import { createMongoMetricsStore } from './stores/mongo/signals/metrics-store.js';
import { createMongoModelEndpointStore } from './stores/mongo/models/model-endpoint-store.js';
import { createMongoPartitionStore } from './stores/mongo/documents/partition-store.js';
import { createMongoQuotaStore } from './stores/mongo/documents/quota-store.js';
import { createMongoPresetStore } from './stores/mongo/models/preset-store.js';
import { createMongoPromptStore } from './stores/mongo/models/prompt-store.js';
import { createMongoStatisticsStore } from './stores/mongo/signals/statistics-store.js';
import { createMongoTaskStore } from './stores/mongo/documents/task-store.js';
import { createMongoUserStore } from './stores/mongo/documents/user-store.js';
import { createEncryption } from './stores/mongo/encryption.js';
import { createMongoWorkerStore } from './stores/mongo/documents/worker-store.js';
import { createMongoWatcherStore } from './stores/mongo/signals/watcher-store.js';
import { createMongoWorkspaceStore } from './stores/mongo/documents/workspace-store.js';
import { ensureIndexes } from './stores/mongo/ensure-indexes.js';
import type { Cache } from './ports/cache.js';
import { createInProcessCache } from './stores/in-process-cache.js';
import { createRedisCache } from './stores/redis/redis-cache.js';
import { connectRedis } from './stores/redis/connect-redis.js';
import { createInProcessRateLimits, createRedisRateLimits } from './stores/redis/rate-limits.js';
import { createOpenSearchChunkStore } from './stores/opensearch/chunk-store.js';
import { connectOpenSearch } from './stores/opensearch/connect-opensearch.js';
import { isSchemaBehind } from './stores/opensearch/ensure-chunk-index.js';

/** `proxy` is null without SECRETS_KEY: the watchers' tokens could not be kept, so nothing could be forwarded. */
export type ConnectedAdapters = Adapters & ChatAdapters & { proxy: ProxyAdapters | null };

/** How we name ourselves to the central API. */
const USER_AGENT = 'tamis/0.1';

/** A start waits so long for what OLLAMA_HOST offers. */
const DISCOVERY_MS = 5000;
const MODEL_CONNECT_MS = 5000;
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
 * Config → adapters behind the ports. The only place where clients of the engines are made.
 * Indexes and the model endpoints of the configuration are created when missing, so that a first start needs no set-up.
 * A model server may be away: it is asked when it is first needed.
 * @throws AppError SERVICE_UNAVAILABLE or VDB_CONNECTION_ERROR when an engine cannot be reached
 */
export const connect = async (
  config: Config,
  openCache: OpenCache = openOwnCache,
): Promise<ConnectedAdapters> => {
  const mongo = await connectMongo(config.mongodb);
  const opensearch = connectOpenSearch(config.opensearch);
  const modelServers = new Agent({ connect: { timeout: MODEL_CONNECT_MS } });
  const foreignServers = createGuardedDispatcher({
    allowPrivate: config.chat.override.allowPrivate,
    connectTimeoutMs: MODEL_CONNECT_MS,
  });
  const { webSearch } = config.chat;
  const { ipLookup } = config.proxy;
  const ipInfo =
    ipLookup === null
      ? NO_IP_INFO
      : createIpInfo(
          createIpInfoSources({ ...ipLookup, userAgent: USER_AGENT }),
          openCache('ip-info', IP_INFO_ENTRIES),
        );
  const callbackClient = createCallbackClient(config.callbacks);
  const close = async (): Promise<void> => {
    await Promise.allSettled([
      mongo.close(),
      opensearch.close(),
      modelServers.destroy(),
      foreignServers.destroy(),
      ipInfo.close(),
      callbackClient.close(),
    ]);
  };
  try {
    await buildIndexes(config);
    const endpoints = createMongoModelEndpointStore(mongo.db);
    const secretsKey = config.secretsKey === null ? null : Buffer.from(config.secretsKey, 'base64');
    const keys = secretsKey === null ? null : createEncryption(secretsKey);
    await seedEndpoints({
      endpoints,
      models: config.models,
      keys,
      discover: (url) =>
        discoverOllama(modelServers, url, {
          timeoutMs: DISCOVERY_MS,
          signal: AbortSignal.timeout(DISCOVERY_MS),
        }),
    });
    const presets = createMongoPresetStore(mongo.db);
    for (const preset of seededPresets(config)) await presets.seed(preset);
    const chunks = createOpenSearchChunkStore(opensearch.client, config.opensearch);
    const fields = (await endpoints.list('embedder')).flatMap(({ vector_field, dimension }) =>
      vector_field === null || dimension === null ? [] : [{ vectorField: vector_field, dimension }],
    );
    await chunks.ensureSchema(fields).catch((error: unknown) => {
      // Searches and uploads say so until it is migrated; everything else works.
      if (!isSchemaBehind(error)) throw error;
    });
    const models = createModelRegistry({
      endpoints,
      builders: [
        builtinModels,
        createEndpointModels({ dispatcher: modelServers, endpoints, chunks, keys, settings: config.models }),
      ],
      contextTokens: config.chat.contextTokens,
    });
    const prompts = createMongoPromptStore(mongo.db);
    await prompts.seed(BUNDLED_PROMPTS);
    return {
      users: createMongoUserStore(mongo.db),
      quotas: createMongoQuotaStore(mongo.db),
      partitions: createMongoPartitionStore(mongo.db),
      files: createMongoFileStore(mongo.db),
      tasks: createMongoTaskStore(mongo.db),
      workers: createMongoWorkerStore(mongo.db),
      callbacks: createMongoCallbackStore(mongo.db, secretsKey),
      callbackClient,
      claims: createMongoClaimStore(mongo.db),
      counters: createMongoCounterStore(mongo.db),
      workspaces: createMongoWorkspaceStore(mongo.db),
      presets,
      blobs: createMongoBlobStore(mongo.db),
      chunks,
      models,
      endpoints,
      modelServers: createModelServers({ dispatcher: modelServers, keys, registry: models }),
      prompts,
      promptSource: createStoredPromptSource(prompts),
      overrides: createOverrideModels({
        ...{ endpoints, keys },
        dispatchers: { own: modelServers, foreign: foreignServers },
        settings: {
          ...config.chat.override,
          concurrency: config.models.llmConcurrency,
          contextTokens: config.chat.contextTokens,
          timeoutMs: config.models.llmTimeoutSeconds * 1000,
        },
      }),
      web:
        webSearch.token === null
          ? null
          : createWebSearch(modelServers, { ...webSearch, token: webSearch.token }),
      proxy:
        secretsKey === null
          ? null
          : {
              alerts: createMongoAlertStore(mongo.db),
              statistics: createMongoStatisticsStore(mongo.db),
              keys: createMongoApiKeyStore(mongo.db),
              ipInfo,
              watchers: createMongoWatcherStore(mongo.db, secretsKey),
              logins: createMongoLoginStore(mongo.db, secretsKey),
              copies: createMongoDecisionCopyStore(mongo.db),
              metrics: createMongoMetricsStore(mongo.db),
              capi: createCapiClient({
                baseUrl: config.proxy.capiUrl,
                timeoutMs: config.proxy.timeoutMs,
                userAgent: USER_AGENT,
              }),
            },
      probes: { mongodb: () => mongo.ping(), opensearch: () => opensearch.ping() },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
};

/**
 * Rate limits and caches, shared through Redis where there is one. It is neither waited for nor needed: `onRedis` is
 * told each time it comes and goes.
 */
export const connectShared = (
  { redis }: Pick<Config, 'redis'>,
  onRedis: (state: 'ready' | 'away', cause?: Error) => void,
): Shared => {
  if (redis.url === null)
    return {
      rateLimits: createInProcessRateLimits(),
      openCache: openOwnCache,
      close: async () => undefined,
    };
  const connection = connectRedis({ url: redis.url }, onRedis);
  return {
    rateLimits: createRedisRateLimits(connection, redis.keyPrefix),
    openCache: (name, most) =>
      createRedisCache(connection, `${redis.keyPrefix}cache:${name}:`, createInProcessCache(most)),
    close: () => connection.close(),
  };
};

async function buildIndexes(config: Config): Promise<void> {
  const mongo = await connectMongo({ ...config.mongodb, isPatient: true });
  try {
    await ensureIndexes(mongo.db);
  } finally {
    await mongo.close();
  }
}
