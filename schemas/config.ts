import { z } from 'zod';
import { parseRate } from './rate.js';
import { MODEL_PROVIDERS, RERANKER_PROVIDERS } from './model-endpoints.js';
import { RETRIEVAL_TYPES } from './presets-api.js';
import type { ModelProvider } from './model-endpoints.js';
import { ollamaUrl } from './ollama-url.js';

/**
 * Configuration comes from the environment (and `.env`), is parsed once before anything opens, and is handed
 * down by value. A bad variable stops the process and is named.
 */

/** Values printed in published examples; compared without case (wire contract, section 6.1). */
const PUBLISHED_SECRETS = new Set([
  'or-openrag-1234',
  'sk-openrag-1234',
  'openrag-dev-secret',
  'minioadmin',
  'postgres',
  'replace-with-a-strong-password',
  'sk-xxxx',
  'hf_xxxx',
  'change_me_strong_password',
  'root_password',
  'sk-or-change-me',
  'change-me-the-secret-from-step-1',
  'your_secret_value',
  'your-api-key',
  'x'.repeat(24),
  'replace-with-a-random-secret',
  '<random secret>',
  'test-admin-token',
  '__generate_me__',
]);

const SECRET_MIN_LENGTH = 12;

const flag = (fallback: boolean) => z.stringbool().default(fallback);
const count = (fallback: number, min = 1) => z.coerce.number().int().min(min).default(fallback);
/** A list with commas; nothing in it counts as unset. */
const names = z
  .string()
  .transform((text) => text.split(',').flatMap((name) => name.trim() || []))
  .optional();
const url = (protocol: RegExp) => z.url({ protocol });
const list = (text: string): string[] =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter(Boolean);
const rate = (fallback: string) =>
  z
    .string()
    .default(fallback)
    .transform((text, context) => {
      const parsed = parseRate(text);
      if (parsed !== null) return parsed;
      context.addIssue('must be a rate such as 600/minute, with second, minute, hour or day');
      return z.NEVER;
    });
/** A few words that stand in a prompt: braces would be slots. */
const promptWords = z
  .string()
  .trim()
  .min(1)
  .max(100)
  .regex(/^[^{}\p{C}]*$/u, 'must be one line without braces');
/** A language, with a script or a region where it has one. */
const LANGUAGE_CODE = /^[A-Za-z]{2,3}(-([A-Za-z]{2}|[A-Za-z]{4}|\d{3}))?$/;
/** `fr` as models are told it, French; whatever is no code stays as it is. */
const languageName = (text: string): string =>
  LANGUAGE_CODE.test(text) ? (new Intl.DisplayNames('en', { type: 'language' }).of(text) ?? text) : text;
const network = z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6(), z.literal('*')], {
  error: 'must be addresses, networks (10.0.0.0/8) or *, with commas between them',
});
/** Stored in clear, shown to administrators and logged: a password in it would not be secret. */
const modelUrl = url(/^https?$/).refine(
  (text) => !/^[^:]+:\/\/[^/?#]*@/.test(text),
  'must not hold a user or password: put the key into the *_API_KEY variable',
);

/** A JSON array in a variable. */
const jsonArray = <Item extends z.ZodType>(item: Item) =>
  z
    .string()
    .transform((text, context): unknown => {
      try {
        return JSON.parse(text);
      } catch {
        context.addIssue({ code: 'custom', message: 'must be a JSON array' });
        return z.NEVER;
      }
    })
    .pipe(z.array(item));

/** Accounts made at the start; one is known again by its external id or its mail address. */
const seedUsers = jsonArray(
  z
    .strictObject({
      display_name: z.string().max(255).nullish(),
      external_user_id: z.string().min(1).max(255).nullish(),
      email: z.email().max(255).nullish(),
      is_admin: z.boolean().default(false),
      file_quota: z.int().min(-1).nullish(),
      /** Without one the account has no token until an administrator regenerates it. */
      token: z.string().optional(),
    })
    .refine((user) => user.external_user_id != null || user.email != null, {
      message: 'each user needs an external_user_id or an email',
    }),
);

/** `;`-separated; `*` stands for every origin. */
const origins = z
  .string()
  .transform((text) => text.split(';').map((part) => part.trim().replace(/\/$/, '')))
  .transform((parts) => parts.filter((part) => part !== ''))
  .pipe(z.array(z.union([z.literal('*'), z.string().regex(/^https?:\/\/[^/?#\s]+$/, 'must be an origin')])));

/** What it means is checked where it is used; a misspelt one must not open or shut the door unseen. */
const NETWORK = /^(\d{1,3}(\.\d{1,3}){3}(\/\d{1,2})?|[0-9a-fA-F:.]*:[0-9a-fA-F:.]*(\/\d{1,3})?)$/;

const environment = z.object({
  HOST: z.string().min(1).optional(),
  PORT: z.coerce.number().int().min(0).max(65535).optional(),
  APP_PORT: z.coerce.number().int().min(0).max(65535).optional(),
  PROXY_PORT: z.coerce.number().int().min(0).max(65535).optional(),
  AUTH_TOKEN: z.string().optional(),
  ALLOW_NO_AUTH: flag(false),
  AUTH_MODE: z.enum(['token']).default('token'),
  SUPER_ADMIN_MODE: flag(false),
  ALLOW_INSECURE_SECRETS: flag(false),
  MONGODB_URL: z
    .string()
    .regex(/^mongodb(\+srv)?:\/\//, 'must start with mongodb:// or mongodb+srv://')
    .default('mongodb://127.0.0.1:27017'),
  MONGODB_DATABASE: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,60}$/)
    .default('tamis'),
  OPENSEARCH_URL: url(/^https?$/).default('http://127.0.0.1:9200'),
  OPENSEARCH_INDEX_PREFIX: z
    .string()
    .regex(/^[a-z0-9][a-z0-9_-]{0,60}$/)
    .default('tamis-'),
  TEMPORAL_ADDRESS: z.string().min(1).default('127.0.0.1:7233'),
  TEMPORAL_NAMESPACE: z.string().min(1).default('default'),
  TASK_QUEUE_PREFIX: z
    .string()
    .regex(/^[A-Za-z0-9._-]{0,80}$/)
    .default(''),
  SEED_USERS: seedUsers.default([]),
  DEFAULT_FILE_QUOTA: z.coerce.number().int().min(-1).default(-1),
  CORS_EXTRA_ORIGINS: origins.default([]),
  GRAFANA_URL: url(/^https?$/).optional(),
  SAVE_UPLOADED_FILES: flag(true),
  MAX_UPLOAD_SIZE_MB: count(1024),
  PREFERRED_URL_SCHEME: z.enum(['http', 'https']).optional(),
  MAX_PARTITIONS_PER_USER: count(100),
  ASSISTANT_NAME: promptWords.optional(),
  DEFAULT_LANGUAGE: promptWords.transform(languageName).optional(),
  MODEL_ID_PREFIX: z.string().min(1).max(40).default('rag-'),
  WITH_OPENAI_API: flag(true),
  CONTENT_DEDUPLICATION_ENABLED: flag(true),
  CHUNK_SIZE: count(512, 16),
  CHUNK_OVERLAP_RATE: z.coerce.number().min(0).lt(1).default(0.2),
  CONTEXTUAL_RETRIEVAL: flag(false),
  CONTEXTUALIZATION_TIMEOUT: count(120),
  RETRIEVER_TYPE: z.enum(RETRIEVAL_TYPES).default('single'),
  RETRIEVER_TOP_K: count(50),
  INCLUDE_RELATED: flag(true),
  INCLUDE_ANCESTORS: flag(true),
  CHAT_TOP_N: count(10),
  RAG_MODE: z.enum(['ChatBotRag', 'SimpleRag']).default('ChatBotRag'),
  RETRIEVER_ALLOW_FILTERLESS_FALLBACK: flag(true),
  RELATED_LIMIT: count(10),
  MAX_DEPTH: count(10),
  MAP_REDUCE_INITIAL_BATCH_SIZE: count(10),
  MAP_REDUCE_EXPANSION_BATCH_SIZE: count(5),
  MAP_REDUCE_MAX_TOTAL: count(20),
  CHAT_HEARTBEAT_SECONDS: count(15, 0),
  LLM_OVERRIDE_ALLOW_CUSTOM_ENDPOINT: flag(true),
  LLM_OVERRIDE_ALLOW_PRIVATE_URLS: flag(false),
  WEBSEARCH_PROVIDER: z.enum(['staan']).default('staan'),
  WEBSEARCH_BASE_URL: url(/^https?$/).default('https://api.staan.ai/v2/search/web'),
  WEBSEARCH_API_TOKEN: z.string().optional(),
  WEBSEARCH_TOP_K: count(5),
  WEBSEARCH_LANG: z
    .string()
    .regex(/^[A-Za-z]{2}(-[A-Za-z]{2})?$/, 'must be a language such as fr-FR')
    .default('fr-FR'),
  WEBSEARCH_MAX_TOKENS: count(2000),
  MAX_LLM_CONTEXT_SIZE: count(8192, 256),
  MAX_OUTPUT_TOKENS: count(1024),
  SIMILARITY_THRESHOLD: z.coerce.number().min(0).max(1).default(0),
  EMBEDDER_BASE_URL: modelUrl.optional(),
  EMBEDDER_MODEL_NAME: z.string().min(1).optional(),
  EMBEDDER_API_KEY: z.string().optional(),
  EMBEDDER_PROVIDER: z.enum(MODEL_PROVIDERS).optional(),
  EMBEDDER_TIMEOUT: count(120),
  EMBEDDER_BATCH_SIZE: count(32),
  EMBEDDER_CONCURRENCY: count(4),
  MAX_MODEL_LEN: z.coerce.number().int().min(16).optional(),
  BASE_URL: modelUrl.optional(),
  MODEL: z.string().min(1).optional(),
  API_KEY: z.string().optional(),
  LLM_PROVIDER: z.enum(MODEL_PROVIDERS).optional(),
  LLM_TIMEOUT: count(120),
  LLM_SEMAPHORE: count(10),
  RERANKER_ENABLED: z.stringbool().optional(),
  RERANKER_BASE_URL: modelUrl.optional(),
  RERANKER_MODEL: z.string().min(1).optional(),
  RERANKER_API_KEY: z.string().optional(),
  RERANKER_PROVIDER: z.enum(RERANKER_PROVIDERS).default('infinity'),
  RERANKER_TIMEOUT: count(30),
  RERANKER_SEMAPHORE: count(5),
  RERANKER_TOP_K: count(10),
  RERANKER_ON_ERROR: z.enum(['fail', 'skip']).default('fail'),
  VLM_BASE_URL: modelUrl.optional(),
  VLM_MODEL: z.string().min(1).optional(),
  VLM_API_KEY: z.string().optional(),
  OLLAMA_HOST: z
    .string()
    .transform(ollamaUrl)
    .pipe(z.string({ error: 'must be a host, host:port or an http(s) URL' }))
    .optional(),
  MODEL_ENDPOINT_SYNC_ON_BOOT: flag(false),
  READINESS_REQUIRE_EMBEDDER: flag(false),
  PARSE_TIMEOUT: count(3600),
  PARSE_MEMORY_MB: count(2048, 128),
  PARSE_MAX_PAGES: count(20_000),
  PARSE_CONCURRENCY: count(2),
  TASK_TIMEOUT_HOURS: count(24),
  TASK_RETENTION_DAYS: count(30),
  INDEXING_CALLBACK_ALLOW_PRIVATE_URLS: flag(false),
  CALLBACK_SIGNING_KEY: z.string().optional(),
  MAX_QUEUED_TASKS: count(100_000),
  MAX_QUEUED_TASKS_PER_USER: count(20_000),
  MAX_RUNNING_TASKS_PER_USER: count(16),
  SWEEP_INTERVAL_SECONDS: count(30),
  SWEEP_GRACE_SECONDS: count(10, 0),
  CAPI_URL: url(/^https?$/).default('https://api.crowdsec.net/'),
  PROXY_TIMEOUT_MS: count(30_000),
  FORWARD_ENABLED: flag(true),
  FORWARD_PACE_MS: count(100, 0),
  ALLOWED_WATCHERS: names,
  ALLOWED_NETWORKS: names.refine(
    (list) => (list ?? []).every((network) => NETWORK.test(network)),
    'must be addresses or ranges such as 10.0.0.0/8, with commas between them',
  ),
  CLIENT_VALIDATION_ENABLED: flag(false),
  CLIENT_VALIDATION_CACHE_TTL: count(604_800),
  CLIENT_VALIDATION_CACHE_TTL_ERROR: count(3600),
  CLIENT_VALIDATION_TIMEOUT_MS: count(3000),
  CLIENT_VALIDATION_FAIL_CLOSED: flag(false),
  CLIENT_VALIDATION_MAX_MEMORY_ENTRIES: count(1000),
  LOGIN_BUDGET: count(18, 0),
  LOGIN_WINDOW_MINUTES: count(50),
  FILTERS_DIR: z.string().min(1).optional(),
  CONFIG_PATH: z.string().min(1).optional(),
  GEOIP_DB_PATH: z.string().min(1).optional(),
  SIGNALS_MAX_BYTES: count(10 * 1024 * 1024),
  DASHBOARD_API_KEY: z.string().optional(),
  RETENTION_DAYS: count(30, 0),
  RATE_LIMIT_MAX: count(100),
  RATE_LIMIT_WINDOW: count(60_000, 1000),
  RDAP_URL: url(/^https?$/).default('https://rdap.org/'),
  WHOIS_SERVER: z
    .string()
    .regex(/^[A-Za-z0-9.-]+(:\d{1,5})?$/, 'must be a host, or host:port')
    .default('whois.iana.org'),
  IP_LOOKUPS: flag(true),
  SECRETS_KEY: z
    .base64()
    .refine((text) => Buffer.from(text, 'base64').length === 32, 'must be 32 bytes in base64')
    .optional(),
  WORKER_HEALTH_FILE: z.string().min(1).optional(),
  REDIS_URL: url(/^rediss?$/).optional(),
  REDIS_KEY_PREFIX: z
    .string()
    .regex(/^[A-Za-z0-9._:-]{0,60}$/)
    .default('tamis:'),
  RATE_LIMIT_ENABLED: flag(true),
  RATE_LIMIT_DEFAULT: rate('600/minute'),
  RATE_LIMIT_AUTH: rate('60/minute'),
  RATE_LIMIT_CHAT: rate('120/minute'),
  RATE_LIMIT_AUTH_FAILURE: rate('20/minute'),
  RETRIEVAL_DIAGNOSTICS_RATE_LIMIT: rate('120/minute'),
  RATE_LIMIT_EXEMPT_PATHS: z
    .string()
    .default('/chainlit/,/assets/')
    .transform(list)
    .pipe(z.array(z.string().startsWith('/'))),
  UVICORN_FORWARDED_ALLOW_IPS: z.string().default('127.0.0.1').transform(list).pipe(z.array(network)),
  LOG_LEVEL: z
    .string()
    .toLowerCase()
    .pipe(z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']))
    .default('info'),
  LOG_FORMAT: z.enum(['json', 'text']).default('json'),
});

/** Every variable that the processes read. */
export const KNOWN_VARIABLES: readonly string[] = Object.keys(environment.shape);

/** Variables whose value must be long and unpublished wherever they are set. */
const GUARDED_SECRETS = [
  'AUTH_TOKEN',
  'POSTGRES_PASSWORD',
  'CHAINLIT_AUTH_SECRET',
  'MINIO_SECRET_KEY',
  'GRAFANA_ADMIN_PASSWORD',
  'METRICS_TOKEN',
  'DASHBOARD_API_KEY',
  'CALLBACK_SIGNING_KEY',
] as const;

/** Keys of model servers: their length is the server's matter, but a published sample is none. */
const MODEL_KEYS = [
  'EMBEDDER_API_KEY',
  'API_KEY',
  'RERANKER_API_KEY',
  'VLM_API_KEY',
  'WEBSEARCH_API_TOKEN',
] as const;

/** What clients write where a server asks for a key and takes any. */
const NO_KEY = 'EMPTY';

/** URLs whose password is guarded likewise. */
const GUARDED_URLS = ['MONGODB_URL', 'OPENSEARCH_URL'] as const;

const passwordOf = (text: string): string | undefined => {
  const match = /^[a-z+]+:\/\/[^/@:]*:([^@/]*)@/i.exec(text);
  return match?.[1] === undefined ? undefined : decodeURIComponent(match[1]);
};

const weakness = (secret: string): string | null => {
  if (secret.length < SECRET_MIN_LENGTH) return `is shorter than ${SECRET_MIN_LENGTH} characters`;
  if (PUBLISHED_SECRETS.has(secret.toLowerCase())) return 'is a value published as an example';
  return null;
};

/** Tokens of SEED_USERS are secrets like any other; what cannot be read is the schema's to refuse. */
const seededTokens = (text: string | undefined): [string, string | undefined][] => {
  const users = seedUsers.safeParse(text ?? '[]');
  return (users.data ?? []).map(({ token }, index) => [`the token of SEED_USERS[${index}]`, token]);
};

const insecureSecrets = (env: Readonly<Record<string, string | undefined>>): string[] => {
  const candidates: [string, string | undefined][] = [
    ...GUARDED_SECRETS.map((name): [string, string | undefined] => [name, env[name]]),
    ...GUARDED_URLS.map((name): [string, string | undefined] => [
      `the password in ${name}`,
      passwordOf(env[name] ?? ''),
    ]),
    ...seededTokens(env['SEED_USERS']),
  ];
  const weak = candidates.flatMap(([name, value]): [string, string][] => {
    const problem = value === undefined || value === '' ? null : weakness(value);
    return problem === null ? [] : [[name, problem]];
  });
  const published = MODEL_KEYS.filter((name) => PUBLISHED_SECRETS.has((env[name] ?? '').toLowerCase())).map(
    (name): [string, string] => [name, 'is a value published as an example'],
  );
  return [...weak, ...published].map(
    ([name, problem]) => `INSECURE_SECRET_CONFIGURATION: ${name} ${problem}`,
  );
};

/** Variables that only make sense together. */
const modelProblems = (env: Readonly<Record<string, string | undefined>>): string[] => {
  // Last: whether OLLAMA_HOST can stand in for the address.
  const pairs = [
    ['EMBEDDER_BASE_URL', 'EMBEDDER_MODEL_NAME', 'EMBEDDER_API_KEY', true],
    ['BASE_URL', 'MODEL', 'API_KEY', true],
    ['RERANKER_BASE_URL', 'RERANKER_MODEL', 'RERANKER_API_KEY', false],
    ['VLM_BASE_URL', 'VLM_MODEL', 'VLM_API_KEY', true],
  ] as const;
  return pairs.flatMap(([base, model, key, ollama]) => [
    ...(env[base] !== undefined && env[model] === undefined ? [`${model}: is needed with ${base}`] : []),
    ...(env[model] !== undefined && env[base] === undefined && (!ollama || env['OLLAMA_HOST'] === undefined)
      ? [`${base}: is needed with ${model}${ollama ? ' (or OLLAMA_HOST)' : ''}`]
      : []),
    ...(env[key] !== undefined && env[key] !== NO_KEY && env['SECRETS_KEY'] === undefined
      ? [`SECRETS_KEY: is needed to store ${key}`]
      : []),
  ]);
};

export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** A model server as the environment names it. */
const configuredModel = <Provider extends string>(given: {
  baseUrl: string | undefined;
  modelName: string | undefined;
  apiKey: string | undefined;
  provider: Provider | undefined;
  ollama?: string | undefined;
}) => {
  const { baseUrl, modelName, apiKey, provider, ollama } = given;
  const url = baseUrl ?? ollama;
  if (url === undefined || modelName === undefined) return null;
  return {
    baseUrl: url,
    modelName,
    apiKey: apiKey === undefined || apiKey === NO_KEY ? null : apiKey,
    provider: provider ?? (baseUrl === undefined ? ('ollama' as const) : null),
  };
};

const build = (env: z.output<typeof environment>) => ({
  http: {
    host: env.HOST ?? (env.AUTH_TOKEN !== undefined || env.ALLOW_NO_AUTH ? '::' : '127.0.0.1'),
    port: env.PORT ?? env.APP_PORT ?? env.PROXY_PORT ?? 8080,
    preferredScheme: env.PREFERRED_URL_SCHEME ?? null,
    maxUploadBytes: env.MAX_UPLOAD_SIZE_MB * 1024 * 1024,
    /** Addresses and networks whose X-Forwarded-For is believed; `*`: everybody's. */
    trustedProxies: env.UVICORN_FORWARDED_ALLOW_IPS,
    /** Origins whose pages may call the document surface; `*`: every one. */
    corsOrigins: env.CORS_EXTRA_ORIGINS,
  },
  auth: {
    token: env.AUTH_TOKEN ?? null,
    superAdminMode: env.SUPER_ADMIN_MODE,
    seedUsers: env.SEED_USERS,
  },
  mongodb: { url: env.MONGODB_URL, database: env.MONGODB_DATABASE },
  opensearch: { url: env.OPENSEARCH_URL, indexPrefix: env.OPENSEARCH_INDEX_PREFIX },
  temporal: {
    address: env.TEMPORAL_ADDRESS,
    namespace: env.TEMPORAL_NAMESPACE,
    /** In front of task queues, workflow ids and schedule ids, so that installations can share a namespace. */
    prefix: env.TASK_QUEUE_PREFIX,
  },
  documents: {
    maxPartitionsPerUser: env.MAX_PARTITIONS_PER_USER,
    /** Files per user where the user's record says nothing; -1: no limit. */
    defaultFileQuota: env.DEFAULT_FILE_QUOTA,
    /** Off: an upload's bytes go once it is indexed, and no answer links to them. */
    saveUploadedFiles: env.SAVE_UPLOADED_FILES,
    deduplicate: env.CONTENT_DEDUPLICATION_ENABLED,
    chunkSize: env.CHUNK_SIZE,
    chunkOverlapRate: env.CHUNK_OVERLAP_RATE,
    /** The preset `default` has a model say where each chunk stands, until somebody edits it. */
    contextualize: env.CONTEXTUAL_RETRIEVAL,
    contextualizationTimeoutSeconds: env.CONTEXTUALIZATION_TIMEOUT,
    taskTimeoutHours: env.TASK_TIMEOUT_HOURS,
    taskRetentionDays: env.TASK_RETENTION_DAYS,
    /** More active tasks than this, on the server or of a user, and uploads are answered 429. */
    maxQueuedTasks: env.MAX_QUEUED_TASKS,
    maxQueuedTasksPerUser: env.MAX_QUEUED_TASKS_PER_USER,
    /** A user's tasks that have a workflow at one time; the others wait for their turn. */
    maxRunningTasksPerUser: env.MAX_RUNNING_TASKS_PER_USER,
    sweepIntervalSeconds: env.SWEEP_INTERVAL_SECONDS,
    /** The sweep leaves alone what is younger: its own gateway is still busy with it. */
    sweepGraceSeconds: env.SWEEP_GRACE_SECONDS,
  },
  parsing: {
    timeoutSeconds: env.PARSE_TIMEOUT,
    memoryMb: env.PARSE_MEMORY_MB,
    maxPages: env.PARSE_MAX_PAGES,
    concurrency: env.PARSE_CONCURRENCY,
  },
  search: {
    similarityThreshold: env.SIMILARITY_THRESHOLD,
    /** Candidates of each retrieval leg. */
    candidates: env.RETRIEVER_TOP_K,
    /** For the retrieval presets that were never edited. */
    presets: {
      type: env.RETRIEVER_TYPE,
      includeRelated: env.INCLUDE_RELATED,
      includeAncestors: env.INCLUDE_ANCESTORS,
    },
    /** Whether the retrieval presets that were never edited rerank, and how many pieces a chat keeps of them. */
    rerankerEnabled: env.RERANKER_ENABLED ?? env.RERANKER_BASE_URL !== undefined,
    rerankerTopK: env.RERANKER_TOP_K,
    /** `skip`: a search whose reranker fails keeps the fused order and says so. */
    rerankOnError: env.RERANKER_ON_ERROR,
  },
  chat: {
    enabled: env.WITH_OPENAI_API,
    modelIdPrefix: env.MODEL_ID_PREFIX,
    /** What prompts say of who answers; null: nothing. */
    voice: {
      assistantName: env.ASSISTANT_NAME ?? null,
      defaultLanguage: env.DEFAULT_LANGUAGE ?? null,
    },
    topN: env.CHAT_TOP_N,
    contextTokens: env.MAX_LLM_CONTEXT_SIZE,
    maxOutputTokens: env.MAX_OUTPUT_TOKENS,
    /** Counted for each piece that an answer may use. */
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
    /** A stream that says nothing for so long gets a comment; 0: none. */
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
  },
  models: {
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
      baseUrl: env.RERANKER_BASE_URL,
      modelName: env.RERANKER_MODEL,
      apiKey: env.RERANKER_API_KEY,
      provider: env.RERANKER_PROVIDER,
    }),
    vlm: configuredModel<ModelProvider>({
      ...{ baseUrl: env.VLM_BASE_URL, modelName: env.VLM_MODEL, apiKey: env.VLM_API_KEY },
      ...{ provider: undefined, ollama: env.OLLAMA_HOST },
    }),
    ollamaUrl: env.OLLAMA_HOST ?? null,
    embedderTimeoutSeconds: env.EMBEDDER_TIMEOUT,
    embedderBatchSize: env.EMBEDDER_BATCH_SIZE,
    /** Requests at once to one embedder, per process. */
    embedderConcurrency: env.EMBEDDER_CONCURRENCY,
    /** Upper bound of an embedder's window; null: the model's own. */
    maxModelLen: env.MAX_MODEL_LEN ?? null,
    llmTimeoutSeconds: env.LLM_TIMEOUT,
    /** Answers at once from one language model, per process. */
    llmConcurrency: env.LLM_SEMAPHORE,
    /** For one reranking in all. */
    rerankerTimeoutSeconds: env.RERANKER_TIMEOUT,
    rerankerConcurrency: env.RERANKER_SEMAPHORE,
    /** The environment wins over the table of model endpoints at each start. */
    syncOnBoot: env.MODEL_ENDPOINT_SYNC_ON_BOOT,
  },
  readiness: { requireEmbedder: env.READINESS_REQUIRE_EMBEDDER },
  proxy: {
    capiUrl: env.CAPI_URL,
    timeoutMs: env.PROXY_TIMEOUT_MS,
    /** Off: signals are stored and withheld. */
    forwardEnabled: env.FORWARD_ENABLED,
    /** Least time between two batches of a watcher. */
    paceMs: env.FORWARD_PACE_MS,
    /** So many logins go to CAPI within the window, over all watchers; 0: any number. */
    loginBudget: env.LOGIN_BUDGET,
    loginWindowMs: env.LOGIN_WINDOW_MINUTES * 60_000,
    /** Folder of rule files; null: the shipped ones. */
    filtersDirectory: env.FILTERS_DIR ?? null,
    /** YAML file with `lapi_servers` and `filters`. */
    configPath: env.CONFIG_PATH ?? null,
    /** City database in MMDB form; null: no enrichment. */
    geoipPath: env.GEOIP_DB_PATH ?? null,
    /** After decompression. */
    maxSignalBytes: env.SIGNALS_MAX_BYTES,
    dashboardApiKey: env.DASHBOARD_API_KEY ?? null,
    /** Alerts that are older are removed, unless they wait; 0: none. */
    retentionDays: env.RETENTION_DAYS,
    /** Requests without a valid key that an address may make in a window. */
    strangerRate: { points: env.RATE_LIMIT_MAX, seconds: Math.ceil(env.RATE_LIMIT_WINDOW / 1000) },
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
  },
  /** Kept young while the worker polls; null: no such file. */
  worker: { healthFile: env.WORKER_HEALTH_FILE ?? null },
  /** url null: limits and caches are kept in the process. */
  redis: { url: env.REDIS_URL ?? null, keyPrefix: env.REDIS_KEY_PREFIX },
  rateLimits: {
    enabled: env.RATE_LIMIT_ENABLED,
    everything: env.RATE_LIMIT_DEFAULT,
    auth: env.RATE_LIMIT_AUTH,
    chat: env.RATE_LIMIT_CHAT,
    authFailure: env.RATE_LIMIT_AUTH_FAILURE,
    diagnostics: env.RETRIEVAL_DIAGNOSTICS_RATE_LIMIT,
    /** Path beginnings that are not limited, besides the probes. */
    exemptPaths: env.RATE_LIMIT_EXEMPT_PATHS,
  },
  callbacks: {
    allowPrivateAddresses: env.INDEXING_CALLBACK_ALLOW_PRIVATE_URLS,
    /** Signs bodies with HMAC-SHA-256; null: they are not signed. */
    signingKey: env.CALLBACK_SIGNING_KEY ?? null,
  },
  /** Encrypts stored tokens and keys; 32 bytes in base64. */
  secretsKey: env.SECRETS_KEY ?? null,
  /** Shown to administrators; null: there is none. */
  grafanaUrl: env.GRAFANA_URL ?? null,
  log: { level: env.LOG_LEVEL, format: env.LOG_FORMAT },
});

type DeepReadonly<T> = { readonly [K in keyof T]: T[K] extends object ? DeepReadonly<T[K]> : T[K] };
export type Config = DeepReadonly<ReturnType<typeof build>>;

const deepFreeze = <T extends object>(value: T): T => {
  for (const inner of Object.values(value))
    if (typeof inner === 'object' && inner !== null) deepFreeze(inner as object);
  return Object.freeze(value);
};

/**
 * Reads the whole configuration from environment variables.
 * @throws ConfigError that names every variable at fault
 */
export const parseConfig = (env: Readonly<Record<string, string | undefined>>): Config => {
  // A variable set to nothing counts as unset, as in a compose file's `NAME=${NAME:-}`.
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  const parsed = environment.safeParse(given);
  const problems = parsed.success
    ? []
    : parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
  problems.push(...modelProblems(given));
  if (given['ALLOW_INSECURE_SECRETS']?.toLowerCase() !== 'true') problems.push(...insecureSecrets(given));
  if (!parsed.success || problems.length > 0)
    throw new ConfigError(
      `The configuration is not valid:\n${problems.map((line) => `  ${line}`).join('\n')}`,
    );
  return deepFreeze(build(parsed.data));
};
