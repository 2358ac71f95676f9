/** The variables that the processes read. */
import { z } from 'zod';
import {
  NETWORK,
  count,
  flag,
  languageName,
  list,
  modelUrl,
  names,
  network,
  origins,
  promptWords,
  rate,
  seedUsers,
  url,
} from './environment-fields.js';
import { MODEL_PROVIDERS, RERANKER_PROVIDERS } from '../models/model-endpoints.js';
import { ollamaUrl } from './ollama-url.js';
import { RETRIEVAL_TYPES } from '../models/presets-api.js';

export const environment = z.object({
  NODE_ENV: z.string().optional(),
  HOST: z.string().min(1).optional(),
  PORT: z.coerce.number().int().min(0).max(65535).optional(),
  APP_PORT: z.coerce.number().int().min(0).max(65535).optional(),
  PROXY_PORT: z.coerce.number().int().min(0).max(65535).optional(),
  AUTH_TOKEN: z.string().optional(),
  ALLOW_NO_AUTH: flag(false),
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
  RETRIEVER_FEEDBACK: flag(true),
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
  EMBEDDER_NUM_THREAD: z.coerce.number().int().min(1).optional(),
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
  VLM_SEMAPHORE: count(10),
  IMAGE_CAPTIONING: z.stringbool().optional(),
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
  MAX_RUNNING_TASKS_PER_USER: count(32),
  SWEEP_INTERVAL_SECONDS: count(30),
  SWEEP_GRACE_SECONDS: count(10, 0),
  CAPI_URL: url(/^https?$/).default('https://api.crowdsec.net/'),
  PROXY_TIMEOUT_MS: count(30_000),
  FORWARD_ENABLED: flag(true),
  FORWARD_PACE_MS: count(0, 0),
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
  /** How far the worker stands back where it shares a machine (POSIX niceness, 0 to 19). */
  WORKER_NICENESS: z.coerce.number().int().min(0).max(19).default(10),
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

/** Variables of earlier releases, and why they are no longer read. */
const RETIRED_VARIABLES: Readonly<Record<string, string>> = {
  AUTH_MODE: 'tokens are the only way to authenticate',
  WEBSEARCH_PROVIDER: 'there is one provider; WEBSEARCH_BASE_URL says where it is',
};

/** One sentence for each variable that is set and has no effect any more: they do not stop the start. */
export const retiredVariableNotes = (env: Readonly<Record<string, string | undefined>>): string[] =>
  Object.entries(RETIRED_VARIABLES)
    .filter(([name]) => (env[name] ?? '') !== '')
    .map(([name, reason]) => `${name} is set but not read: ${reason}`);
