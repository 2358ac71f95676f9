/** The configuration as the processes use it, a function for each part; comments say what a value means to them. */
import { configuredModel, rerankerAddress } from './configured-models.js';
import type { Environment } from './environment.js';
import type { ModelProvider } from '../models/model-endpoints.js';

function servicesConfig(env: Environment) {
  return { documents: env.SERVICES.includes('documents'), proxy: env.SERVICES.includes('proxy') };
}

/** The port of the documents, or of both sides; and that of the proxy where it has one of its own. */
function ports(env: Environment): { port: number; proxyPort: number | null } {
  const port = env.PORT ?? env.APP_PORT ?? 8080;
  const { documents, proxy } = servicesConfig(env);
  if (!documents) return { port: env.PROXY_PORT ?? port, proxyPort: null };
  const apart = proxy && env.PROXY_PORT !== undefined && (env.PROXY_PORT === 0 || env.PROXY_PORT !== port);
  return { port, proxyPort: apart ? (env.PROXY_PORT ?? null) : null };
}

function httpConfig(env: Environment) {
  return {
    host: env.HOST ?? (env.AUTH_TOKEN !== undefined || env.ALLOW_NO_AUTH ? '::' : '127.0.0.1'),
    ...ports(env),
    preferredScheme: env.PREFERRED_URL_SCHEME ?? null,
    maxUploadBytes: env.MAX_UPLOAD_SIZE_MB * 1024 * 1024,
    /** Addresses and networks whose X-Forwarded-For is believed; `*`: that of any address. */
    trustedProxies: env.UVICORN_FORWARDED_ALLOW_IPS,
    /** Over https alone, browsers are told. */
    strictTransport: env.NODE_ENV === 'production',
    /** Origins whose pages may call the document surface; `*`: every one. */
    corsOrigins: env.CORS_EXTRA_ORIGINS,
    /** While access is open: what requests may name as their host, besides loopback. */
    allowedHosts: env.ALLOWED_HOSTS,
    /** Folder of the built console; null: beside the code. */
    consoleDirectory: env.CONSOLE_DIR ?? null,
  };
}

function oidcConfig(env: Environment) {
  if (env.AUTH_MODE !== 'oidc') return null;
  return {
    issuer: env.OIDC_ISSUER ?? '',
    clientId: env.OIDC_CLIENT_ID ?? '',
    /** Null: a public client. */
    clientSecret: env.OIDC_CLIENT_SECRET ?? null,
    scopes: env.OIDC_SCOPES,
    groupsClaim: env.OIDC_GROUPS_CLAIM,
    /** None: who is an administrator is not the provider's to say. */
    adminGroups: env.OIDC_ADMIN_GROUPS,
    createUsers: env.OIDC_CREATE_USERS,
  };
}

function authConfig(env: Environment) {
  return {
    token: env.AUTH_TOKEN ?? null,
    superAdminMode: env.SUPER_ADMIN_MODE,
    /** Null: tokens and keys are all that people sign in with. */
    oidc: oidcConfig(env),
    seedUsers: env.SEED_USERS,
  };
}

/** How long a session of a browser lasts. */
function sessionConfig(env: Environment) {
  return {
    /** After the last request. */
    idleMs: env.SESSION_IDLE_HOURS * 3_600_000,
    /** After signing in. */
    maxMs: env.SESSION_MAX_DAYS * 86_400_000,
  };
}

/** Files of certificates; null: none is named. */
interface Certificates {
  ca: string | null;
  certificate: string | null;
  key: string | null;
}

function certificates(ca?: string, certificate?: string, key?: string): Certificates {
  return { ca: ca ?? null, certificate: certificate ?? null, key: key ?? null };
}

/** Null: without TLS. */
function temporalTls(env: Environment): (Certificates & { serverName: string | null }) | null {
  const tls = {
    ...certificates(
      env.TEMPORAL_TLS_SERVER_CA_CERT_PATH,
      env.TEMPORAL_TLS_CLIENT_CERT_PATH,
      env.TEMPORAL_TLS_CLIENT_KEY_PATH,
    ),
    serverName: env.TEMPORAL_TLS_SERVER_NAME ?? null,
  };
  const isNamed = env.TEMPORAL_API_KEY !== undefined || Object.values(tls).some((value) => value !== null);
  return (env.TEMPORAL_TLS ?? isNamed) ? tls : null;
}

function openSearchConfig(env: Environment) {
  return {
    url: env.OPENSEARCH_URL,
    indexPrefix: env.OPENSEARCH_INDEX_PREFIX,
    /** Null: nothing is asked for. */
    shards: env.OPENSEARCH_INDEX_SHARDS ?? null,
    /** A number or a range; null: nothing is asked for. */
    replicas: env.OPENSEARCH_INDEX_REPLICAS ?? null,
    /** Null: what the address holds. */
    username: env.OPENSEARCH_USERNAME ?? null,
    password: env.OPENSEARCH_PASSWORD ?? null,
    ...certificates(env.OPENSEARCH_CA_FILE, env.OPENSEARCH_CLIENT_CERT_FILE, env.OPENSEARCH_CLIENT_KEY_FILE),
    /** Null: requests are not signed for AWS. */
    aws:
      env.OPENSEARCH_AWS_REGION === undefined
        ? null
        : { region: env.OPENSEARCH_AWS_REGION, service: env.OPENSEARCH_AWS_SERVICE },
  };
}

function redisConfig(env: Environment) {
  return {
    /** Null: limits and caches are kept in the process. */
    url: env.REDIS_URL ?? null,
    keyPrefix: env.REDIS_KEY_PREFIX,
    ...certificates(env.REDIS_CA_FILE, env.REDIS_CLIENT_CERT_FILE, env.REDIS_CLIENT_KEY_FILE),
    /** Null: the server of the address. */
    sentinel:
      env.REDIS_SENTINELS === undefined
        ? null
        : {
            nodes: env.REDIS_SENTINELS,
            master: env.REDIS_SENTINEL_MASTER,
            username: env.REDIS_SENTINEL_USERNAME ?? null,
            password: env.REDIS_SENTINEL_PASSWORD ?? null,
          },
    clusterNodes: env.REDIS_CLUSTER_NODES ?? null,
  };
}

function temporalConfig(env: Environment) {
  return {
    address: env.TEMPORAL_ADDRESS,
    namespace: env.TEMPORAL_NAMESPACE,
    /** Of a namespace that we make. */
    namespaceRetentionDays: env.TEMPORAL_NAMESPACE_RETENTION_DAYS,
    tls: temporalTls(env),
    apiKey: env.TEMPORAL_API_KEY ?? null,
    encryptPayloads: env.TEMPORAL_ENCRYPT_PAYLOADS,
    /** Null: no page of another origin may have payloads decrypted by a session. */
    uiOrigin: env.TEMPORAL_UI_ORIGIN === undefined ? null : new URL(env.TEMPORAL_UI_ORIGIN).origin,
    /** In front of task queues, workflow ids and schedule ids, so that installations can share a namespace. */
    prefix: env.TASK_QUEUE_PREFIX,
  };
}

function documentsConfig(env: Environment) {
  return {
    maxPartitionsPerUser: env.MAX_PARTITIONS_PER_USER,
    /** Files per user where the user's record says nothing; -1: no limit. */
    defaultFileQuota: env.DEFAULT_FILE_QUOTA,
    /** Off: an upload's bytes go once it is indexed, and no answer links to them. */
    saveUploadedFiles: env.SAVE_UPLOADED_FILES,
    deduplicate: env.CONTENT_DEDUPLICATION_ENABLED,
    /** How the preset `default` cuts documents, unless it was edited. */
    chunker: env.CHUNKER,
    chunkSize: env.CHUNK_SIZE,
    chunkOverlapRate: env.CHUNK_OVERLAP_RATE,
    /** The preset `default` has a model say where each chunk stands, unless it was edited. */
    contextualize: env.CONTEXTUAL_RETRIEVAL,
    /** The preset `default` has pictures described, unless it was edited. */
    captionImages: env.IMAGE_CAPTIONING ?? env.VLM_MODEL !== undefined,
    contextualizationTimeoutSeconds: env.CONTEXTUALIZATION_TIMEOUT,
    taskTimeoutMs: env.TASK_TIMEOUT_HOURS * 3_600_000,
    taskRetentionDays: env.TASK_RETENTION_DAYS,
    /** More active tasks than this, on the server or of a user, and uploads are answered 429. */
    maxQueuedTasks: env.MAX_QUEUED_TASKS,
    maxQueuedTasksPerUser: env.MAX_QUEUED_TASKS_PER_USER,
    /** A user's tasks that have a workflow at one time; the others wait for their turn. */
    maxRunningTasksPerUser: env.MAX_RUNNING_TASKS_PER_USER,
    sweepIntervalSeconds: env.SWEEP_INTERVAL_SECONDS,
    /** The sweep leaves alone what is younger: its own gateway is still busy with it. */
    sweepGraceSeconds: env.SWEEP_GRACE_SECONDS,
  };
}

function parsingConfig(env: Environment) {
  return {
    timeoutSeconds: env.PARSE_TIMEOUT,
    memoryMb: env.PARSE_MEMORY_MB,
    totalMemoryMb: env.PARSE_TOTAL_MEMORY_MB,
    maxPages: env.PARSE_MAX_PAGES,
    maxOcrPages: env.OCR_MAX_PAGES,
    /** None when OCR is off. */
    ocrLanguages: env.OCR_ENABLED ? env.OCR_LANGUAGES.split('+') : [],
    concurrency: env.PARSE_CONCURRENCY,
  };
}

function searchConfig(env: Environment) {
  return {
    similarityThreshold: env.SIMILARITY_THRESHOLD,
    /** Candidates of each retrieval leg. */
    candidates: env.RETRIEVER_TOP_K,
    /** Scores candidates again by the vector of the best hit. */
    feedback: env.RETRIEVER_FEEDBACK,
    /** For the retrieval presets that were never edited. */
    presets: {
      type: env.RETRIEVER_TYPE,
      includeRelated: env.INCLUDE_RELATED,
      includeAncestors: env.INCLUDE_ANCESTORS,
    },
    /** Whether the retrieval presets that were never edited rerank, and how many chunks a chat keeps of them. */
    rerankerEnabled:
      env.RERANKER_ENABLED ?? rerankerAddress(env.RERANKER_PROVIDER, env.RERANKER_BASE_URL) !== undefined,
    rerankerTopK: env.RERANKER_TOP_K,
    /** `skip`: a search whose reranker fails keeps the fused order and says so. */
    rerankOnError: env.RERANKER_ON_ERROR,
  };
}

function chatConfig(env: Environment) {
  return {
    enabled: env.WITH_OPENAI_API,
    modelIdPrefix: env.MODEL_ID_PREFIX,
    /** What prompts say of the assistant; null: nothing. */
    voice: {
      assistantName: env.ASSISTANT_NAME ?? null,
      defaultLanguage: env.DEFAULT_LANGUAGE ?? null,
    },
    topN: env.CHAT_TOP_N,
    contextTokens: env.MAX_LLM_CONTEXT_SIZE,
    maxOutputTokens: env.MAX_OUTPUT_TOKENS,
    /** Counted for each chunk that an answer may use. */
    chunkSize: env.CHUNK_SIZE,
    /** Whether questions are rewritten by the conversation. */
    rewriting: env.RAG_MODE === 'ChatBotRag',
    /** Whether a time that finds nothing is dropped. */
    filterlessFallback: env.RETRIEVER_ALLOW_FILTERLESS_FALLBACK,
    relatedLimit: env.RELATED_LIMIT,
    maxAncestorDepth: env.MAX_DEPTH,
    mapReduce: {
      initialBatch: env.MAP_REDUCE_INITIAL_BATCH_SIZE,
      expansionBatch: env.MAP_REDUCE_EXPANSION_BATCH_SIZE,
      maxTotal: env.MAP_REDUCE_MAX_TOTAL,
    },
    /** A stream silent for so long gets a comment; 0: none. */
    heartbeatMs: env.CHAT_HEARTBEAT_SECONDS * 1000,
    override: {
      allowCustomEndpoint: env.LLM_OVERRIDE_ALLOW_CUSTOM_ENDPOINT,
      allowPrivate: env.LLM_OVERRIDE_ALLOW_PRIVATE_URLS,
    },
    webSearch: {
      baseUrl: env.WEBSEARCH_BASE_URL,
      /** Null: off. */
      token: env.WEBSEARCH_API_TOKEN ?? null,
      topK: env.WEBSEARCH_TOP_K,
      market: env.WEBSEARCH_LANG.toLowerCase(),
      maxTokens: env.WEBSEARCH_MAX_TOKENS,
    },
  };
}

function modelsConfig(env: Environment) {
  return {
    /** Null: not configured; the built-in model, or what OLLAMA_HOST offers. */
    embedder: configuredModel({
      baseUrl: env.EMBEDDER_BASE_URL,
      modelName: env.EMBEDDER_MODEL_NAME,
      apiKey: env.EMBEDDER_API_KEY,
      provider: env.EMBEDDER_PROVIDER,
      ollama: env.OLLAMA_HOST,
    }),
    llm: configuredModel({
      baseUrl: env.BASE_URL,
      modelName: env.MODEL,
      apiKey: env.API_KEY,
      provider: env.LLM_PROVIDER,
      ollama: env.OLLAMA_HOST,
    }),
    reranker: configuredModel({
      baseUrl: rerankerAddress(env.RERANKER_PROVIDER, env.RERANKER_BASE_URL),
      modelName: env.RERANKER_MODEL,
      apiKey: env.RERANKER_API_KEY,
      provider: env.RERANKER_PROVIDER,
    }),
    vlm: configuredModel<ModelProvider>({
      baseUrl: env.VLM_BASE_URL,
      modelName: env.VLM_MODEL,
      apiKey: env.VLM_API_KEY,
      provider: undefined,
      ollama: env.OLLAMA_HOST,
    }),
    stt: configuredModel<ModelProvider>({
      baseUrl: env.TRANSCRIBER_BASE_URL,
      modelName: env.TRANSCRIBER_MODEL,
      apiKey: env.TRANSCRIBER_API_KEY,
      provider: 'openai',
    }),
    ollamaUrl: env.OLLAMA_HOST ?? null,
    /** Of models that run in this process; null: none do. */
    modelsDirectory: env.MODELS_DIR ?? null,
    embedderTimeoutSeconds: env.EMBEDDER_TIMEOUT,
    embedderBatchSize: env.EMBEDDER_BATCH_SIZE,
    /** Requests at once to one embedder, per process. */
    embedderConcurrency: env.EMBEDDER_CONCURRENCY,
    /** Processor threads that Ollama computes vectors with; null: as many as it likes. */
    embedderThreads: env.EMBEDDER_NUM_THREAD ?? null,
    /** Upper bound of an embedder's window; null: the model's own. */
    maxModelLen: env.MAX_MODEL_LEN ?? null,
    llmTimeoutSeconds: env.LLM_TIMEOUT,
    /** Answers at once from one language model, per process. */
    llmConcurrency: env.LLM_SEMAPHORE,
    /** For one reranking in all. */
    rerankerTimeoutSeconds: env.RERANKER_TIMEOUT,
    rerankerConcurrency: env.RERANKER_SEMAPHORE,
    /** Pictures that one vision model is asked about at once, per process. */
    vlmConcurrency: env.VLM_SEMAPHORE,
    /** Longest wait for one transcript. */
    transcriberTimeoutSeconds: env.TRANSCRIBER_TIMEOUT,
    /** Recordings that one model transcribes at once, per process. */
    transcriberConcurrency: env.TRANSCRIBER_SEMAPHORE,
    /** The environment wins over the table of model endpoints at each start. */
    syncOnBoot: env.MODEL_ENDPOINT_SYNC_ON_BOOT,
  };
}

function proxyConfig(env: Environment) {
  return {
    capiUrl: env.CAPI_URL,
    timeoutMs: env.PROXY_TIMEOUT_MS,
    /** Off: signals are stored and withheld. */
    forwardEnabled: env.FORWARD_ENABLED,
    /** Least time between two batches of a watcher. */
    paceMs: env.FORWARD_PACE_MS,
    /** So many logins go to CAPI within the window, over all watchers; 0: any number. */
    loginBudget: env.LOGIN_BUDGET,
    loginWindowMs: env.LOGIN_WINDOW_MINUTES * 60_000,
    /** Watchers that CAPI never let in, of one address; 0: any number. */
    unknownPerAddress: env.UNKNOWN_WATCHERS_PER_ADDRESS,
    /** Since their last push they are kept so long. */
    unknownLifetimeMs: env.UNKNOWN_WATCHER_HOURS * 3_600_000,
    /** Folder of rule files; null: see `rulesFolder`. */
    rulesDirectory: env.FILTERS_DIR ?? null,
    /** YAML file with `lapi_servers` and `filters`. */
    configPath: env.CONFIG_PATH ?? null,
    /** City database in MMDB form; null: no enrichment. */
    geoipPath: env.GEOIP_DB_PATH ?? null,
    /** After decompression. */
    maxSignalBytes: env.SIGNALS_MAX_BYTES,
    maxMetricsBytes: env.METRICS_MAX_BYTES,
    dashboardApiKey: env.DASHBOARD_API_KEY ?? null,
    /** Alerts that are older are removed, unless they wait; 0: none. */
    retentionDays: env.RETENTION_DAYS,
    /** What is in quarantine for longer is given up, where there is a retention at all; 0: nothing. */
    quarantineDays: env.QUARANTINE_RETENTION_DAYS,
    /** Requests without a valid key that an address may make in a window. */
    unauthenticatedRate: { points: env.RATE_LIMIT_MAX, seconds: Math.ceil(env.RATE_LIMIT_WINDOW / 1000) },
    /** Where addresses are looked up; null: nowhere. */
    ipLookup: env.IP_LOOKUPS ? { rdapUrl: env.RDAP_URL, whoisServer: env.WHOIS_SERVER } : null,

    /** Who may use the proxy side. */
    access: {
      watchers: env.ALLOWED_WATCHERS ?? null,
      networks: env.ALLOWED_NETWORKS ?? null,
      validation: {
        enabled: env.CLIENT_VALIDATION_ENABLED,
        ttlMs: env.CLIENT_VALIDATION_CACHE_TTL * 1000,
        ttlOnErrorMs: env.CLIENT_VALIDATION_CACHE_TTL_ERROR * 1000,
        timeoutMs: env.CLIENT_VALIDATION_TIMEOUT_MS,
        failClosed: env.CLIENT_VALIDATION_FAIL_CLOSED,
        maxEntries: env.CLIENT_VALIDATION_MAX_MEMORY_ENTRIES,
      },
    },
  };
}

function rateLimitsConfig(env: Environment) {
  return {
    enabled: env.RATE_LIMIT_ENABLED,
    everything: env.RATE_LIMIT_DEFAULT,
    auth: env.RATE_LIMIT_AUTH,
    chat: env.RATE_LIMIT_CHAT,
    authFailure: env.RATE_LIMIT_AUTH_FAILURE,
    diagnostics: env.RETRIEVAL_DIAGNOSTICS_RATE_LIMIT,
    /** Path beginnings that are not limited, besides the probes. */
    exemptPaths: env.RATE_LIMIT_EXEMPT_PATHS,
  };
}

function callbacksConfig(env: Environment) {
  return {
    allowPrivateAddresses: env.INDEXING_CALLBACK_ALLOW_PRIVATE_URLS,
    /** Signs bodies with HMAC-SHA-256; null: they are not signed. */
    signingKey: env.CALLBACK_SIGNING_KEY ?? null,
  };
}

function importsConfig(env: Environment) {
  return { allowPrivateAddresses: env.IMPORT_ALLOW_PRIVATE_URLS };
}

function downloadsConfig(env: Environment) {
  return { allowPrivateAddresses: env.INDEX_URL_ALLOW_PRIVATE_URLS };
}

/** location null: no backups are made. */
function backupConfig(env: Environment) {
  const { BACKUP_S3_ACCESS_KEY_ID: accessKeyId, BACKUP_S3_SECRET_ACCESS_KEY: secretAccessKey } = env;
  return {
    location: env.BACKUP_LOCATION ?? null,
    /** 0: all. */
    keep: env.BACKUP_KEEP,
    s3: {
      endpoint: env.BACKUP_S3_ENDPOINT ?? null,
      region: env.BACKUP_S3_REGION,
      credentials:
        accessKeyId === undefined || secretAccessKey === undefined ? null : { accessKeyId, secretAccessKey },
      pathStyle: env.BACKUP_S3_PATH_STYLE ?? env.BACKUP_S3_ENDPOINT !== undefined,
    },
  };
}

/** The whole configuration, from variables that were read and checked. */
export function configOf(env: Environment) {
  return {
    /** Which of its jobs this process does. */
    services: servicesConfig(env),
    http: httpConfig(env),
    auth: authConfig(env),
    session: sessionConfig(env),
    /** token null: scraping is refused, unless it is open to all. */
    metrics: { token: env.METRICS_TOKEN ?? null, allowUnauthenticated: env.METRICS_ALLOW_UNAUTHENTICATED },
    mongodb: { url: env.MONGODB_URL, database: env.MONGODB_DATABASE, ca: env.MONGODB_CA_FILE ?? null },
    opensearch: openSearchConfig(env),
    temporal: temporalConfig(env),
    documents: documentsConfig(env),
    parsing: parsingConfig(env),
    search: searchConfig(env),
    chat: chatConfig(env),
    models: modelsConfig(env),
    readiness: { requireEmbedder: env.READINESS_REQUIRE_EMBEDDER },
    proxy: proxyConfig(env),
    /** metricsPort null: none. healthFile: kept young while the worker polls; null: no such file. buildId null: any. */
    worker: {
      buildId: env.WORKER_BUILD_ID ?? null,
      metricsPort: env.WORKER_METRICS_PORT ?? null,
      healthFile: env.WORKER_HEALTH_FILE ?? null,
      niceness: env.WORKER_NICENESS,
      taskQueues: env.WORKER_TASK_QUEUES,
    },
    redis: redisConfig(env),
    rateLimits: rateLimitsConfig(env),
    backups: backupConfig(env),
    callbacks: callbacksConfig(env),
    downloads: downloadsConfig(env),
    imports: importsConfig(env),
    /** Encrypts stored tokens and keys; 32 bytes in base64. */
    secretsKey: env.SECRETS_KEY ?? null,
    /** They open what was sealed before SECRETS_KEY changed. */
    formerSecretsKeys: env.SECRETS_KEY_PREVIOUS === undefined ? [] : [env.SECRETS_KEY_PREVIOUS],
    /** Shown to administrators; null: there is none. */
    grafanaUrl: env.GRAFANA_URL ?? null,
    log: { level: env.LOG_LEVEL, format: env.LOG_FORMAT },
    /** endpoint null: nothing is traced. headerSecrets: as the variable has them. share: of the traces, kept. */
    tracing: {
      endpoint: env.OTEL_EXPORTER_OTLP_ENDPOINT ?? null,
      headerSecrets: env.OTEL_EXPORTER_OTLP_HEADERS ?? null,
      share: env.OTEL_TRACES_SAMPLER_ARG,
    },
  };
}
