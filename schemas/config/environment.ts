/**
 * The variables that the processes read, by group: what each may hold, its default, its unit and what it means.
 * README's table and `deploy/env.example` are written from here (`npm run write:config`).
 */
import { z } from 'zod';
import {
  DECODABLE,
  NETWORK,
  count,
  file,
  flag,
  hosts,
  isHeaderList,
  issuer,
  languageName,
  list,
  modelUrl,
  names,
  network,
  origins,
  plainUrl,
  promptWords,
  rate,
  sealingKey,
  seedUsers,
  url,
} from './environment-fields.js';
import { MODEL_PROVIDERS, RERANKER_PROVIDERS } from '../models/model-endpoints.js';
import { ollamaUrl } from './ollama-url.js';
import { CHUNKING_STRATEGIES, RETRIEVAL_TYPES } from '../models/presets-api.js';
import { describeVariable, described } from './variable-notes.js';
import type { DescribedVariable } from './variable-notes.js';

const port = z.coerce.number().int().min(0).max(65535).optional();

const listening = {
  HOST: described(z.string().min(1).optional(), 'address that the gateway listens on', {
    unset: 'every interface when `AUTH_TOKEN` is set or `ALLOW_NO_AUTH` is `true`, else loopback',
    fixedByCompose: true,
  }),
  SERVICES: described(
    z
      .string()
      .default('documents,proxy')
      .transform(list)
      .pipe(z.array(z.enum(['documents', 'proxy'])).min(1)),
    'what gateway and worker do: `documents`, `proxy` or both. `proxy` alone needs neither OpenSearch nor model servers',
  ),
  PORT: described(
    port.clone(),
    'port of the gateway, of the proxy alone only where `PROXY_PORT` is unset; with Docker the published one',
    { unset: '`8080`' },
  ),
  APP_PORT: described(port.clone(), 'taken where `PORT` is unset', { fixedByCompose: true }),
  PROXY_PORT: described(
    port.clone(),
    'a port of its own for the proxy (`/v2`, `/v3`, `/v1/usage-metrics`, `/api`, `/health`), which the other one then does ' +
      'not serve, but for `/api` to who is signed in to the console; with Docker the published one',
    { unset: 'one port serves both; `8081` with Docker' },
  ),
  PREFERRED_URL_SCHEME: described(
    z.enum(['http', 'https']).optional(),
    'scheme in links: `https` behind a proxy that ends TLS',
  ),
  UVICORN_FORWARDED_ALLOW_IPS: described(
    z.string().default('127.0.0.1').transform(list).pipe(z.array(network)),
    'proxies whose `X-Forwarded-For` is believed: addresses and networks with commas between them, or `*`',
  ),
  CORS_EXTRA_ORIGINS: described(
    origins.default([]),
    'origins whose pages may call the document API with a token of their own, with `;` between them; `*`: every one, and ' +
      'for writing not while `AUTH_TOKEN` is unset',
  ),
  CONSOLE_DIR: described(
    z.string().min(1).optional(),
    'folder of the built console, which is served under `/app/`',
    {
      unset: '`web/dist` beside the code',
    },
  ),
  NODE_ENV: described(
    z.string().optional(),
    '`production`: answers tell browsers to come over https alone, also to names below this one (HSTS with `includeSubDomains`, ' +
      '180 days)',
    { unset: '`production` in the images', fixedByCompose: true },
  ),
  METRICS_TOKEN: described(z.string().optional(), 'bearer token of scrapers, for `GET /metrics`', {
    unset: '`GET /metrics` is refused, or open with the next variable',
    secret: true,
  }),
  METRICS_ALLOW_UNAUTHENTICATED: described(
    flag(false),
    'without `METRICS_TOKEN`: `GET /metrics` is open to everyone',
  ),
  GRAFANA_URL: described(url(/^https?$/).optional(), 'shown to administrators by `GET /config`'),
  LOG_LEVEL: described(
    z
      .string()
      .toLowerCase()
      .pipe(z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']))
      .default('info'),
    'least level of the lines in the log, which goes to stderr: `trace` to `fatal`, or `silent`',
  ),
  LOG_FORMAT: described(z.enum(['json', 'text']).default('json'), '`text` for people'),
  OTEL_EXPORTER_OTLP_ENDPOINT: described(
    plainUrl('put them into OTEL_EXPORTER_OTLP_HEADERS').optional(),
    'an OpenTelemetry collector that gets traces by OTLP over HTTP, under `/v1/traces`',
    { unset: 'nothing is traced' },
  ),
  OTEL_EXPORTER_OTLP_HEADERS: described(
    z
      .string()
      .refine(isHeaderList, 'must be name=value, percent-encoded, with commas between them')
      .optional(),
    'headers for it, such as `authorization=Bearer%20…`, with commas between them',
    { secret: true },
  ),
  OTEL_TRACES_SAMPLER_ARG: described(
    z.coerce.number().min(0).max(1).default(1),
    'share of the traces that are kept, from 0 to 1; the same ones in all processes',
  ),
};

const access = {
  AUTH_TOKEN: described(z.string().optional(), 'token of the administrator', {
    unset: 'authentication is off; random with the launcher',
    secret: true,
  }),
  ALLOW_NO_AUTH: described(
    flag(false),
    'without `AUTH_TOKEN`: listen on every interface all the same; names of this host are answered where ' +
      '`ALLOWED_HOSTS` has them',
  ),
  ALLOWED_HOSTS: described(
    z
      .string()
      .toLowerCase()
      .default('')
      .transform(list)
      .pipe(
        z.array(
          z.string().regex(/^[a-z0-9._-]+$|^[0-9a-f:.]+$/, 'must be names or addresses without a port'),
        ),
      ),
    'without `AUTH_TOKEN`: host names or addresses, with commas between them, that requests may name besides loopback and ' +
      'the address they came to; others are answered 403, against DNS rebinding',
  ),
  SUPER_ADMIN_MODE: described(flag(false), 'administrators reach every partition'),
  SEED_USERS: described(
    seedUsers.default([]),
    'accounts made at the start: a JSON array of objects with `external_user_id` or `email`, and `display_name`, ' +
      '`is_admin`, `file_quota`, `token` as wanted; those that exist stay as they are',
    { secret: true },
  ),
  SECRETS_KEY: described(
    sealingKey.optional(),
    "32 bytes in base64 that encrypt the watchers' tokens, callback tokens and the keys of model servers; needed with " +
      '`EMBEDDER_API_KEY`, `API_KEY`, `RERANKER_API_KEY`, `VLM_API_KEY` and `TRANSCRIBER_API_KEY`, and to register a model endpoint with a key',
    { unset: 'the proxy is off, and a warning says so; random with the launcher', secret: true },
  ),
  SECRETS_KEY_PREVIOUS: described(
    sealingKey.optional(),
    'opens what was encrypted before `SECRETS_KEY` changed, and encrypts nothing; `tamis migrate run secrets` makes it ' +
      'superfluous (`docs/operations.md`)',
    { secret: true },
  ),
  AUTH_MODE: described(
    z.enum(['token', 'oidc']).default('token'),
    'how people sign in with a browser: `oidc` adds an OpenID Connect provider (`OIDC_…`), and who is not known is answered ' +
      '401; tokens hold in either',
  ),
  OIDC_ISSUER: described(
    issuer.optional(),
    'address of the provider, as its discovery document says it; `https`, or `http` on loopback',
  ),
  OIDC_CLIENT_ID: described(
    z.string().optional(),
    'our name there; its redirect address is `/auth/callback` of the gateway, that of back-channel logout ' +
      '`/auth/backchannel-logout`',
  ),
  OIDC_CLIENT_SECRET: described(z.string().optional(), 'our secret there', {
    unset: 'a public client: PKCE alone',
    secret: true,
  }),
  OIDC_SCOPES: described(
    z
      .string()
      .regex(/(^| )openid( |$)/, 'must hold openid')
      .default('openid profile email'),
    'what is asked of the provider, with blanks between them',
  ),
  OIDC_GROUPS_CLAIM: described(z.string().default('groups'), 'the claim that lists the groups of a person'),
  OIDC_ADMIN_GROUPS: described(
    z.string().default('').transform(list),
    'groups, with commas between them, whose members are administrators, as of each sign-in',
    { unset: 'administrators are made here alone' },
  ),
  OIDC_CREATE_USERS: described(
    flag(true),
    'make a user of a subject that signs in for the first time; otherwise only those with that `external_user_id` may',
  ),
  SESSION_IDLE_HOURS: described(
    count(12),
    'who signed in with a browser is signed out so long after the last request',
    {
      unit: 'h',
    },
  ),
  SESSION_MAX_DAYS: described(count(7), 'and at the latest so long after signing in', { unit: 'days' }),
  DASHBOARD_API_KEY: described(z.string().optional(), 'key for `/api` (`X-Api-Key`)', {
    unset: 'every call under `/api` is answered 401; random with the launcher',
    secret: true,
  }),
  ALLOW_INSECURE_SECRETS: described(flag(false), 'start although a secret is short or published'),
};

const stores = {
  MONGODB_URL: described(
    z
      .string()
      .regex(/^mongodb(\+srv)?:\/\//, 'must start with mongodb:// or mongodb+srv://')
      .refine(...DECODABLE)
      .default('mongodb://127.0.0.1:27017'),
    'records and upload bytes: MongoDB 7 or 8, or FerretDB 2 with DocumentDB',
    { fixedByCompose: true, secret: true },
  ),
  MONGODB_DATABASE: described(
    z
      .string()
      .regex(/^[A-Za-z0-9_-]{1,60}$/)
      .default('tamis'),
    'name of the database',
  ),
  MONGODB_CA_FILE: described(
    file,
    "certificates (PEM) that sign the server's; turns TLS on. Other options stand in `MONGODB_URL`",
    {
      unset: "the system's",
    },
  ),
  OPENSEARCH_URL: described(url(/^https?$/).default('http://127.0.0.1:9200'), 'chunks', {
    fixedByCompose: true,
    secret: true,
  }),
  OPENSEARCH_USERNAME: described(z.string().min(1).optional(), 'user for basic authentication', {
    unset: 'what `OPENSEARCH_URL` holds',
  }),
  OPENSEARCH_PASSWORD: described(z.string().min(1).optional(), 'and the password', { secret: true }),
  OPENSEARCH_CA_FILE: described(file, "certificates (PEM) that sign the server's", { unset: "the system's" }),
  OPENSEARCH_CLIENT_CERT_FILE: described(file, 'our certificate (PEM), where the server asks for one'),
  OPENSEARCH_CLIENT_KEY_FILE: described(file, 'and its key (PEM)'),
  OPENSEARCH_AWS_REGION: described(
    z
      .string()
      .regex(/^[a-z]{2}(-[a-z]+)+-\d$/, 'must be a region such as eu-west-3')
      .optional(),
    'requests are signed for AWS in this region (Signature Version 4), by the credentials that the AWS SDK finds: ' +
      '`AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY`, a profile, or a role of the pod, task or machine',
    { unset: 'they are not signed' },
  ),
  OPENSEARCH_AWS_SERVICE: described(
    z.enum(['es', 'aoss']).default('es'),
    'name of the service in these signatures: `es` (managed domains) or `aoss` (serverless)',
  ),
  OPENSEARCH_INDEX_PREFIX: described(
    z
      .string()
      .regex(/^[a-z0-9][a-z0-9_-]{0,60}$/)
      .default('tamis-'),
    'in front of the names of indexes',
  ),
  OPENSEARCH_INDEX_SHARDS: described(
    z.coerce.number().int().min(1).max(1024).optional(),
    'shards of the index of the chunks, each partition in one of them; an index that is there with another number is ' +
      'made anew by the migration `vector-store`',
    { unset: '1 of an index that is made, and one that is there stays as it is' },
  ),
  OPENSEARCH_INDEX_REPLICAS: described(
    z
      .string()
      .regex(/^\d{1,3}(-(\d{1,3}|all))?$/, 'a number, or a range such as 0-2 or 1-all')
      .optional(),
    'copies of the index of the chunks on other nodes: a number, or a range (`0-2`, `1-all`) of which OpenSearch has as ' +
      'many as there are nodes for',
    { unset: '`0-1` of an index that is made, and one that is there stays as it is' },
  ),
  TEMPORAL_ADDRESS: described(z.string().min(1).default('127.0.0.1:7233'), 'workflows', {
    fixedByCompose: true,
  }),
  TEMPORAL_NAMESPACE: described(
    z.string().min(1).default('default'),
    'namespace of the workflows; a worker makes it where it is missing and it may',
    { fixedByCompose: true },
  ),
  TEMPORAL_NAMESPACE_RETENTION_DAYS: described(
    count(3),
    'ended workflows are kept so long in a namespace that a worker or Compose makes',
    { unit: 'days' },
  ),
  TEMPORAL_TLS: described(z.stringbool().optional(), 'whether TLS is spoken to Temporal', {
    unset: '`true` when one of the next five variables is set',
  }),
  TEMPORAL_TLS_SERVER_CA_CERT_PATH: described(file, "file of certificates (PEM) that sign the server's", {
    unset: "the system's",
  }),
  TEMPORAL_TLS_SERVER_NAME: described(z.string().min(1).optional(), "name in the server's certificate", {
    unset: 'that of `TEMPORAL_ADDRESS`',
  }),
  TEMPORAL_TLS_CLIENT_CERT_PATH: described(
    file,
    'file of our certificate (PEM), where the server asks for one',
  ),
  TEMPORAL_TLS_CLIENT_KEY_PATH: described(file, 'and of its key (PEM)'),
  TEMPORAL_API_KEY: described(z.string().min(1).optional(), 'key for Temporal Cloud', { secret: true }),
  TEMPORAL_ENCRYPT_PAYLOADS: described(
    flag(false),
    'what Temporal keeps of workflows (arguments, results, notes, failures) is encrypted by `SECRETS_KEY`; ids of workflows, ' +
      'of which some hold ids of files, are not. `docs/operations.md` says how its UI can show it',
  ),
  TEMPORAL_UI_ORIGIN: described(
    url(/^https?$/).optional(),
    "origin of Temporal's UI: the console leads there, and it may ask for what is encrypted as the administrator who is signed " +
      'in to the console',
    { unset: 'only who sends a token may' },
  ),
  TASK_QUEUE_PREFIX: described(
    z
      .string()
      .regex(/^[A-Za-z0-9._-]{0,80}$/)
      .default(''),
    'in front of task queues, workflow and schedule ids: several installations can share a namespace',
  ),
  REDIS_URL: described(
    url(/^rediss?$/).optional(),
    'rate limits, and caches (lookups of addresses, validated tokens), that all gateways share',
    {
      unset: 'each gateway counts for itself, as it does while Redis is away',
      fixedByCompose: true,
      secret: true,
    },
  ),
  REDIS_CA_FILE: described(file, "certificates (PEM) that sign the server's, with a `rediss` address", {
    unset: "the system's",
  }),
  REDIS_CLIENT_CERT_FILE: described(file, 'our certificate (PEM), where the server asks for one'),
  REDIS_CLIENT_KEY_FILE: described(file, 'and its key (PEM)'),
  REDIS_SENTINELS: described(
    hosts.optional(),
    'sentinels that know the present primary, `host:port` with commas between them. `REDIS_URL` then says user, ' +
      'password, database and TLS (`rediss`, for the sentinels too) alone',
    { unset: 'none is asked' },
  ),
  REDIS_SENTINEL_MASTER: described(z.string().min(1).default('mymaster'), 'the name they have for it'),
  REDIS_SENTINEL_USERNAME: described(z.string().min(1).optional(), 'user for the sentinels themselves'),
  REDIS_SENTINEL_PASSWORD: described(z.string().min(1).optional(), 'and the password', { secret: true }),
  REDIS_CLUSTER_NODES: described(
    hosts.optional(),
    'nodes of a Redis Cluster to begin with, likewise; the others are found through them',
    { unset: '`REDIS_URL` is a single server' },
  ),
  REDIS_KEY_PREFIX: described(
    z
      .string()
      .regex(/^[A-Za-z0-9._:-]{0,60}$/)
      .default('tamis:'),
    'in front of keys in Redis',
  ),
};

const uploads = {
  MAX_UPLOAD_SIZE_MB: described(count(1024), 'a larger upload is answered 413', { unit: 'MiB' }),
  SAVE_UPLOADED_FILES: described(
    flag(true),
    "off: an upload's bytes are removed once it is indexed, and answers link to no source file",
  ),
  CONTENT_DEDUPLICATION_ENABLED: described(
    flag(true),
    'the same bytes under two file ids of a partition are refused',
  ),
  DEFAULT_FILE_QUOTA: described(
    z.coerce.number().int().min(-1).default(-1),
    "files per user where the user's record says nothing; -1: no limit. Administrators have none",
  ),
  MAX_PARTITIONS_PER_USER: described(count(100), 'partitions that a user owns and has made'),
  MAX_QUEUED_TASKS: described(
    count(100_000),
    'active tasks of all users; beyond, uploads are answered 429 with `Retry-After`',
  ),
  MAX_QUEUED_TASKS_PER_USER: described(count(20_000), 'active tasks of one user; beyond, likewise'),
  MAX_RUNNING_TASKS_PER_USER: described(
    count(32),
    'tasks of one user at work at one time; the others wait, and users take turns',
  ),
  TASK_TIMEOUT_HOURS: described(
    count(24),
    'a task ends FAILED with TASK_EXPIRED so long after it was started; waiting for its turn does not count',
    { unit: 'h' },
  ),
  TASK_RETENTION_DAYS: described(count(30), 'records of ended tasks are kept so long', { unit: 'days' }),
  INDEXING_CALLBACK_ALLOW_PRIVATE_URLS: described(
    flag(false),
    'let `callback_url` name private, loopback and link-local addresses',
  ),
  INDEX_URL_ALLOW_PRIVATE_URLS: described(
    flag(false),
    'let the tool `index_url` of `/mcp` fetch from private, loopback and link-local addresses',
  ),
  IMPORT_ALLOW_PRIVATE_URLS: described(
    flag(false),
    'let the source of an import be at a private, loopback or link-local address',
  ),
  CALLBACK_SIGNING_KEY: described(
    z.string().optional(),
    'signs callbacks: `X-Tamis-Signature: t=<seconds>,v1=<hex HMAC-SHA-256 of "t.body">`',
    { secret: true },
  ),
  SWEEP_INTERVAL_SECONDS: described(
    count(30),
    'how often leftovers of a crash are taken up. The open workflows `upkeep-documents` and `upkeep-signals` do it; in ' +
      'the Temporal UI they take the signals `pause`, `resume` and `interval` (seconds)',
    { unit: 's' },
  ),
  SWEEP_GRACE_SECONDS: described(count(10, 0), 'how old leftovers of a crash must be to be taken up', {
    unit: 's',
  }),
};

const indexing = {
  CHUNKER: described(
    z.enum(CHUNKING_STRATEGIES).default('recursive_splitter'),
    'how the indexation preset `default` cuts documents: by size, or at their headings (`structured_section`)',
  ),
  CHUNK_SIZE: described(
    count(512, 16),
    'tokens (o200k) in a chunk, in the indexation preset `default`; `legal` has 1024, `finance` 768',
  ),
  CHUNK_OVERLAP_RATE: described(
    z.coerce.number().min(0).lt(1).default(0.2),
    'the part of a chunk that overlaps with the next, likewise; `legal` has 0.25, `finance` 0.2',
  ),
  CONTEXTUAL_RETRIEVAL: described(
    flag(false),
    'the indexation preset `default` has a language model say where each chunk stands (a call for every chunk)',
  ),
  CONTEXTUALIZATION_TIMEOUT: described(
    count(120),
    'time-out of one call of a model about a chunk, a picture or topics',
    { unit: 's' },
  ),
  IMAGE_CAPTIONING: described(
    z.stringbool().optional(),
    'the indexation preset `default` has a vision model describe the pictures of documents (a call for every picture)',
    { unset: '`true` when `VLM_MODEL` is set' },
  ),
  PARSE_TIMEOUT: described(
    count(3_600),
    'time-out of one document in its parser process; where a gateway reads one for tools, at most 300 s',
    { unit: 's' },
  ),
  PARSE_MEMORY_MB: described(count(2048, 128), 'memory of one parser process', { unit: 'MiB' }),
  PARSE_TOTAL_MEMORY_MB: described(
    count(3072, 128),
    'memory of all parser processes of a worker, or of a gateway, together; at least `PARSE_MEMORY_MB`. Beyond, what was ' +
      'begun last is read again by itself',
    { unit: 'MiB' },
  ),
  PARSE_MAX_PAGES: described(count(20_000), 'pages of one document'),
  OCR_ENABLED: described(
    flag(true),
    'text of pictures, and of pages of a PDF that are only a picture, is read by OCR',
  ),
  OCR_LANGUAGES: described(
    z
      .string()
      .regex(/^[a-z]{3}(_[a-z]+)*(\+[a-z]{3}(_[a-z]+)*)*$/i, {
        error: "must be Tesseract's codes of languages with `+` between them",
      })
      .default('eng+fra+deu+spa'),
    'languages of OCR by Tesseract’s codes; one beyond the default needs the package `@tesseract.js-data/CODE`, or the program `tesseract` on PATH with its data, which is used where it is there. Of these it goes on with the one that the first pages of a scan are in, where their words show it',
  ),
  OCR_MAX_PAGES: described(count(200), 'pages and pictures of one document that go through OCR'),
  PARSE_CONCURRENCY: described(
    count(2),
    'documents read at once, by a worker, and by a gateway for tools; each in a process of its own',
  ),
  WORKER_TASK_QUEUES: described(
    z
      .string()
      .default('documents,models,migrations,alerts')
      .transform(list)
      .pipe(z.array(z.enum(['documents', 'models', 'migrations', 'alerts'])).min(1)),
    'which task queues a worker serves: `documents` parses and writes records, `models` waits for models, `migrations` ' +
      'rewrites what is stored, `alerts` waits for the central API. Each needs a worker somewhere that serves it',
  ),
  WORKER_NICENESS: described(
    z.coerce.number().int().min(0).max(19).default(10),
    'POSIX niceness of the worker, which shares a machine with the gateway: 0 (none) to 19',
  ),
  WORKER_METRICS_PORT: described(
    port.clone(),
    'port on which the worker answers `GET /metrics` by the same rules as the gateway, on the same `HOST`; several workers on one machine need one each',
    { unset: 'the worker listens on nothing' },
  ),
  WORKER_BUILD_ID: described(
    z
      .string()
      .regex(/^[A-Za-z0-9_-]{1,100}$/)
      .optional(),
    "name of the release that the worker runs, for Temporal's worker versioning: documents whose indexing has begun end on the workers that began it, and a new release takes work only once `tamis upgrade promote` names it (`docs/operations.md`)",
    { unset: 'workers are not versioned: every worker takes any work' },
  ),
  WORKER_HEALTH_FILE: described(
    z.string().min(1).optional(),
    'file that the worker touches while it polls, for health checks',
    { unset: 'no such file; set in the image', fixedByCompose: true },
  ),
};

const backups = {
  BACKUP_LOCATION: described(
    z
      .string()
      .regex(
        /^(?:\/|s3:\/\/[A-Za-z0-9][A-Za-z0-9.-]{1,62}(?:\/|$))/,
        'must be a folder from / on, or s3://BUCKET/PREFIX',
      )
      .optional(),
    'where `tamis backup` puts backups: a folder that gateways and workers share, or `s3://BUCKET/PREFIX`',
    { unset: 'no backups are made' },
  ),
  BACKUP_KEEP: described(
    z.coerce.number().int().min(0).default(0),
    'backups that are kept once another one is complete, the newest; `0`: all',
  ),
  BACKUP_S3_ENDPOINT: described(
    plainUrl('put them into BACKUP_S3_ACCESS_KEY_ID and BACKUP_S3_SECRET_ACCESS_KEY').optional(),
    'an S3-compatible server',
    { unset: "Amazon's" },
  ),
  BACKUP_S3_REGION: described(z.string().min(1).default('us-east-1'), 'region of the bucket'),
  BACKUP_S3_ACCESS_KEY_ID: described(z.string().min(1).optional(), 'who the bucket is asked as', {
    unset: "what Amazon's SDK finds, such as the role of the machine",
  }),
  BACKUP_S3_SECRET_ACCESS_KEY: described(z.string().min(1).optional(), 'its secret', { secret: true }),
  BACKUP_S3_PATH_STYLE: described(
    z.stringbool().optional(),
    'whether the bucket stands in the path of an address and not in its host',
    { unset: '`true` with `BACKUP_S3_ENDPOINT`' },
  ),
};

const modelServers = {
  OLLAMA_HOST: described(
    z
      .string()
      .transform(ollamaUrl)
      .pipe(z.string({ error: 'must be a host, host:port or an http(s) URL' }))
      .optional(),
    'an Ollama whose models become endpoints; also the address of a model named without one',
    { unset: 'none; set by the launcher where it runs Ollama', fixedByCompose: true },
  ),
  EMBEDDER_BASE_URL: described(
    modelUrl.optional(),
    'the model server for embeddings, at an address without a password',
    { unset: 'what `OLLAMA_HOST` offers, else the built-in embedder' },
  ),
  EMBEDDER_MODEL_NAME: described(z.string().min(1).optional(), 'name of the embedding model'),
  EMBEDDER_API_KEY: described(z.string().optional(), 'key for its server', { secret: true }),
  EMBEDDER_PROVIDER: described(
    z.enum(MODEL_PROVIDERS).optional(),
    'dialect of its server: `ollama` or `openai`',
    { unset: 'found by asking' },
  ),
  EMBEDDER_TIMEOUT: described(count(120), 'longest silence of the embedder', { unit: 's' }),
  EMBEDDER_BATCH_SIZE: described(count(32), 'texts in one request at most'),
  EMBEDDER_CONCURRENCY: described(count(4), 'requests at once to one embedder, per process'),
  EMBEDDER_NUM_THREAD: described(
    z.coerce.number().int().min(1).optional(),
    'processor threads of an Ollama that computes vectors. More than its share of a machine slows it down: its threads ' +
      'wait for each other by spinning',
    { unset: "Ollama's choice; half the cores where the launcher runs Ollama" },
  ),
  MAX_MODEL_LEN: described(
    z.coerce.number().int().min(16).optional(),
    "upper bound of the embedder's window, in its tokens (never more than 8192)",
    { unset: "the model's own" },
  ),
  BASE_URL: described(modelUrl.optional(), 'the model server for chat, at an address without a password', {
    unset: 'what `OLLAMA_HOST` offers, else the built-in answerer',
  }),
  MODEL: described(z.string().min(1).optional(), 'name of the language model'),
  API_KEY: described(z.string().optional(), 'key for its server', { secret: true }),
  LLM_PROVIDER: described(z.enum(MODEL_PROVIDERS).optional(), 'dialect of its server: `ollama` or `openai`', {
    unset: 'found by asking',
  }),
  LLM_TIMEOUT: described(count(120), 'longest silence, before and inside an answer', { unit: 's' }),
  LLM_SEMAPHORE: described(count(10), 'answers at once from one language model, per process'),
  MAX_LLM_CONTEXT_SIZE: described(
    count(8192, 256),
    "tokens of a prompt and its answer at most, where `extra.max_llm_context_size` of the model's endpoint names no number",
  ),
  MAX_OUTPUT_TOKENS: described(
    count(1024),
    "tokens of an answer, where neither a request nor `extra.max_output_tokens` of the model's endpoint names a number",
  ),
  MODELS_DIR: described(
    file,
    'folder of rerankers that run in gateway and worker without a server, one folder each (see "Models, presets and prompts")',
    { unset: 'none' },
  ),
  RERANKER_BASE_URL: described(modelUrl.optional(), "the reranker's server", { unset: 'no reranker' }),
  RERANKER_MODEL: described(
    z.string().min(1).optional(),
    'name of the reranker; with `RERANKER_PROVIDER=onnx` that of its folder in `MODELS_DIR`',
  ),
  RERANKER_API_KEY: described(z.string().optional(), 'key for its server', { secret: true }),
  RERANKER_PROVIDER: described(
    z.enum(RERANKER_PROVIDERS).default('infinity'),
    "`infinity` (also Cohere's and Jina's form), `openai` (the same behind `/v1`, as vLLM has it), `tei`, or `onnx`: no server, a " +
      'model of `MODELS_DIR`',
  ),
  RERANKER_ENABLED: described(z.stringbool().optional(), 'whether the retrieval presets rerank', {
    unset: '`true` when `RERANKER_BASE_URL` is set or `RERANKER_PROVIDER` is `onnx`',
  }),
  RERANKER_ON_ERROR: described(
    z.enum(['fail', 'skip']).default('fail'),
    '`skip`: a search whose reranker fails keeps its order and says so under `extra`',
  ),
  RERANKER_TIMEOUT: described(count(30), 'for one reranking in all', { unit: 's' }),
  RERANKER_SEMAPHORE: described(count(5), 'requests at once to one reranker, per process'),
  RERANKER_TOP_K: described(count(10), 'extracts that a chat keeps of a ranking'),
  VLM_BASE_URL: described(
    modelUrl.optional(),
    "the vision model's server, the default for presets that have pictures described",
    { unset: 'what `OLLAMA_HOST` offers under `VLM_MODEL`, else none' },
  ),
  VLM_MODEL: described(z.string().min(1).optional(), 'name of the vision model'),
  VLM_API_KEY: described(z.string().optional(), 'key for its server', { secret: true }),
  VLM_SEMAPHORE: described(count(10), 'pictures that one vision model is asked about at once, per process'),
  TRANSCRIBER_BASE_URL: described(
    modelUrl.optional(),
    'server of the model that transcribes audio and video, in the OpenAI format (`/audio/transcriptions`)',
    { unset: 'audio and video are refused' },
  ),
  TRANSCRIBER_MODEL: described(z.string().min(1).optional(), 'name of that model'),
  TRANSCRIBER_API_KEY: described(z.string().optional(), 'key for its server', { secret: true }),
  TRANSCRIBER_TIMEOUT: described(
    count(1800),
    "longest wait for the transcript of one recording; an endpoint's own `timeout` counts where it is longer",
    { unit: 's' },
  ),
  TRANSCRIBER_SEMAPHORE: described(count(2), 'recordings transcribed at once by one model, per process'),
  MODEL_ENDPOINT_SYNC_ON_BOOT: described(
    flag(false),
    'the variables above fill the table of model endpoints at the first start only; `true`: they win at every start',
  ),
  READINESS_REQUIRE_EMBEDDER: described(
    flag(false),
    '`/ready` answers 503 while the embedder is away or not configured',
  ),
};

const retrieval = {
  RETRIEVER_TYPE: described(
    z.enum(RETRIEVAL_TYPES).default('single'),
    'how the retrieval presets find sources for a chat: by the question as it is, `multiQuery` (variants of it) or ' +
      '`hyde` (a made-up answer)',
  ),
  RETRIEVER_TOP_K: described(count(50), 'candidates of each retrieval leg, for the retrieval presets'),
  RETRIEVER_FEEDBACK: described(
    flag(true),
    "a search scores its candidates a second time, by the vector of the best one with the question's (not with the " +
      'built-in embedder) and by the words of the best ten: finds better, for a short question more to OpenSearch',
  ),
  SIMILARITY_THRESHOLD: described(
    z.coerce.number().min(0).max(1).default(0),
    "least cosine on the vector leg, 0 to 1, where neither a request nor `extra.similarity_threshold` of the embedder's " +
      'endpoint names one',
  ),
  INCLUDE_RELATED: described(
    flag(true),
    'the retrieval presets add files that share the relationship id of a source',
  ),
  INCLUDE_ANCESTORS: described(flag(true), 'the retrieval presets add the files above a source'),
  RELATED_LIMIT: described(count(10), 'extracts that chat adds from related files, and from those above'),
  MAX_DEPTH: described(count(10), 'steps up the chain of files above a source'),
};

const chat = {
  WITH_OPENAI_API: described(flag(true), 'serve `/v1`'),
  MODEL_ID_PREFIX: described(z.string().min(1).max(40).default('rag-'), 'how `/v1/models` names partitions'),
  CHAT_TOP_N: described(count(10), 'extracts that a chat answer may use, for the retrieval presets'),
  RAG_MODE: described(
    z.enum(['ChatBotRag', 'SimpleRag']).default('ChatBotRag'),
    '`SimpleRag`: questions are searched for as they are asked, whatever was said before',
  ),
  RETRIEVER_ALLOW_FILTERLESS_FALLBACK: described(
    flag(true),
    'a time that a question names is dropped where no document of that time is found',
  ),
  MAP_REDUCE_INITIAL_BATCH_SIZE: described(count(10), 'extracts that the model evaluates first'),
  MAP_REDUCE_EXPANSION_BATCH_SIZE: described(count(5), 'extracts that it evaluates at a time afterwards'),
  MAP_REDUCE_MAX_TOTAL: described(count(20), 'extracts that it evaluates in all'),
  CHAT_HEARTBEAT_SECONDS: described(
    count(15, 0),
    'a stream, of a chat or of a task, that is silent for so long gets a comment, so that proxies keep it; 0: none',
    { unit: 's' },
  ),
  ASSISTANT_NAME: described(
    promptWords.optional(),
    'who answers: slot `{assistant_name}` of prompts for answers, and a sentence before those that have no slot',
  ),
  DEFAULT_LANGUAGE: described(
    promptWords.transform(languageName).optional(),
    "language of answers (`fr` or `French`) where the question's own cannot be told: slot `{default_language}`, likewise",
  ),
  LLM_OVERRIDE_ALLOW_CUSTOM_ENDPOINT: described(
    flag(true),
    'clients may name an https address and a key of their own in `metadata.llm_override`; off: a model only',
  ),
  LLM_OVERRIDE_ALLOW_PRIVATE_URLS: described(
    flag(false),
    'such an address may be private, loopback or link-local',
  ),
  WEBSEARCH_API_TOKEN: described(
    z.string().optional(),
    'turns on web search for chats that ask for it; the provider is Staan',
    { unset: 'no web search', secret: true },
  ),
  WEBSEARCH_BASE_URL: described(
    url(/^https?$/).default('https://api.staan.ai/v2/search/web'),
    'where the web search is asked',
  ),
  WEBSEARCH_TOP_K: described(count(5), 'pages of a web search'),
  WEBSEARCH_LANG: described(
    z
      .string()
      .regex(/^[A-Za-z]{2}(-[A-Za-z]{2})?$/, 'must be a language such as fr-FR')
      .default('fr-FR'),
    'language of these pages',
  ),
  WEBSEARCH_MAX_TOKENS: described(count(2000), 'tokens of these pages in a prompt'),
};

const signals = {
  CAPI_URL: described(
    url(/^https?$/).default('https://api.crowdsec.net/'),
    'central API that signals go to; with the launcher a stand-in on this machine, unless it is set',
  ),
  PROXY_TIMEOUT_MS: described(count(30_000), 'time-out of a request to the central API', { unit: 'ms' }),
  FORWARD_ENABLED: described(
    flag(true),
    'off: signals are stored and held back, also when it is on again, until an operator releases them; ' +
      'usage metrics are answered as taken and dropped',
  ),
  FORWARD_PACE_MS: described(count(0, 0), 'least time between two batches of a watcher', { unit: 'ms' }),
  LOGIN_BUDGET: described(
    count(18, 0),
    'so many logins go to the central API within `LOGIN_WINDOW_MINUTES`, over all watchers; of machines that it has not let in ' +
      'half of them, a third for one address, and a third for one machine that it has; 0: any number',
  ),
  LOGIN_WINDOW_MINUTES: described(count(50), 'the window of `LOGIN_BUDGET`', { unit: 'min' }),
  UNKNOWN_WATCHERS_PER_ADDRESS: described(
    count(50, 0),
    'so many watchers that the central API never let in may send signals from one address; 0: any number',
  ),
  UNKNOWN_WATCHER_HOURS: described(
    count(72),
    'a watcher that the central API never let in is forgotten so long after its last push, and what it was refused is given up',
    { unit: 'h' },
  ),
  FILTERS_DIR: described(
    z.string().min(1).optional(),
    'folder of rule files; a change counts within a second (30 s on config maps and network shares), a broken file keeps its ' +
      'last good form',
    { unset: '`filters.d/` beside `CONFIG_PATH`; without that the shipped `deploy/filters.d/`' },
  ),
  CONFIG_PATH: described(
    z.string().min(1).optional(),
    'YAML file with `lapi_servers` and `filters` (`mode`, `rules`)',
  ),
  GEOIP_DB_PATH: described(
    z.string().min(1).optional(),
    'city database in MMDB form (GeoLite2, DB-IP City Lite); fills the `geo` fields and serves rules on `geo.…`',
    { unset: 'no places' },
  ),
  SIGNALS_MAX_BYTES: described(count(10 * 1024 * 1024), 'a push may be so large after decompression', {
    unit: 'bytes',
  }),
  METRICS_MAX_BYTES: described(
    count(16 * 1024 * 1024),
    'usage metrics may be so large after decompression; what is larger than 9 MiB goes in parts',
    { unit: 'bytes' },
  ),
  RETENTION_DAYS: described(
    count(30, 0),
    'alerts received longer ago are removed, unless they wait for the central API or for a person; 0: none',
    { unit: 'days' },
  ),
  QUARANTINE_RETENTION_DAYS: described(
    count(0, 0),
    'signals in quarantine that were received longer ago are given up, and removed by `RETENTION_DAYS`; 0: none',
    { unit: 'days' },
  ),
  ALLOWED_WATCHERS: described(
    names.clone(),
    'login names, with commas between them, that may use `/v2`, `/v3` and `/v1/usage-metrics`',
    { unset: 'all' },
  ),
  ALLOWED_NETWORKS: described(
    names.refine(
      (list) => (list ?? []).every((network) => NETWORK.test(network)),
      'must be addresses or ranges such as 10.0.0.0/8, with commas between them',
    ),
    'addresses and ranges that may do so (behind proxies: see `UVICORN_FORWARDED_ALLOW_IPS`)',
    { unset: 'all' },
  ),
  CLIENT_VALIDATION_ENABLED: described(
    flag(false),
    'ask the central API whether a token is good before taking signals',
  ),
  CLIENT_VALIDATION_FAIL_CLOSED: described(flag(false), 'refuse where that question gets no answer'),
  CLIENT_VALIDATION_CACHE_TTL: described(
    count(604_800),
    'how long its yes counts, at most until the token ends',
    { unit: 's' },
  ),
  CLIENT_VALIDATION_CACHE_TTL_ERROR: described(count(3600), 'how long no answer counts as a yes', {
    unit: 's',
  }),
  CLIENT_VALIDATION_TIMEOUT_MS: described(count(3000), 'time-out of that question', { unit: 'ms' }),
  CLIENT_VALIDATION_MAX_MEMORY_ENTRIES: described(count(1000), 'tokens remembered'),
  IP_LOOKUPS: described(flag(true), 'whether `/api/ip-info` asks other servers'),
  RDAP_URL: described(url(/^https?$/).default('https://rdap.org/'), 'where it asks over RDAP'),
  WHOIS_SERVER: described(
    z
      .string()
      .regex(/^[A-Za-z0-9.-]+(:\d{1,5})?$/, 'must be a host, or host:port')
      .default('whois.iana.org'),
    'where it asks over WHOIS',
  ),
};

const rateLimits = {
  RATE_LIMIT_ENABLED: described(
    flag(true),
    'limits on the document API; administrators and probes are not limited, and signals never are',
  ),
  RATE_LIMIT_DEFAULT: described(
    rate('600/minute'),
    'every request, by user, or by address without authentication',
  ),
  RATE_LIMIT_CHAT: described(rate('120/minute'), '`/v1/*`, likewise'),
  RATE_LIMIT_AUTH: described(rate('60/minute'), '`/auth/*`, likewise'),
  RATE_LIMIT_AUTH_FAILURE: described(
    rate('20/minute'),
    'wrong tokens and sign-ins from one address; who was let in from there in the last 15 minutes goes on',
  ),
  RETRIEVAL_DIAGNOSTICS_RATE_LIMIT: described(
    rate('120/minute'),
    "searches with a retrieval trace and snapshots, administrators' too",
  ),
  RATE_LIMIT_EXEMPT_PATHS: described(
    z
      .string()
      .default('/chainlit/,/assets/')
      .transform(list)
      .pipe(z.array(z.string().startsWith('/'))),
    'beginnings of paths that are not limited',
  ),
  RATE_LIMIT_MAX: described(
    count(100),
    'requests for `/health` and with wrong keys that an address may make within `RATE_LIMIT_WINDOW`',
  ),
  RATE_LIMIT_WINDOW: described(count(60_000, 1000), 'the window of `RATE_LIMIT_MAX`', { unit: 'ms' }),
};

export const environment = z.object({
  ...listening,
  ...access,
  ...stores,
  ...uploads,
  ...indexing,
  ...backups,
  ...modelServers,
  ...retrieval,
  ...chat,
  ...signals,
  ...rateLimits,
});

/** What is read from the environment, before it is sorted by what uses it. */
export type Environment = z.output<typeof environment>;

/** Every variable that the processes read. */
export const KNOWN_VARIABLES: readonly string[] = Object.keys(environment.shape);

/** Those that `NAME_FILE` may stand for. */
export const SECRET_VARIABLES: readonly string[] = Object.entries(environment.shape).flatMap(
  ([name, schema]) => (describeVariable(name, schema).secret === true ? [name] : []),
);

function group(title: string, variables: Readonly<Record<string, z.ZodType>>) {
  return {
    title,
    variables: Object.entries(variables).map(([name, schema]) => describeVariable(name, schema)),
  };
}

/** The variables as documents list them. */
export const VARIABLE_GROUPS: readonly { title: string; variables: readonly DescribedVariable[] }[] = [
  group('Listening and logs', listening),
  group('Access and secrets', access),
  group('Stores', stores),
  group('Uploads and tasks', uploads),
  group('Indexing', indexing),
  group('Backups', backups),
  group('Model servers', modelServers),
  group('Retrieval', retrieval),
  group('Chat', chat),
  group('Signals', signals),
  group('Rate limits', rateLimits),
];

const STORES = 'the stores are MONGODB_URL and OPENSEARCH_URL';

/** Variables of openrag that we do not read, and why; README lists them. */
const UNREAD_VARIABLES: Readonly<Record<string, string>> = {
  AUDIOLOADER: 'recordings are transcribed by the server of TRANSCRIBER_BASE_URL',
  DATA_DIR: 'files are in the store of MONGODB_URL',
  IMAGE_CAPTIONING_URL:
    'pictures behind addresses are not fetched; IMAGE_CAPTIONING has those in documents described',
  OPENRAG_CONTAINER_STARTUP_TIMEOUT: 'a container is up when /health_check and /ready answer',
  PDFLOADER: 'each file type has one parser',
  POSTGRES_HOST: STORES,
  PROMPTS_DIR: 'prompts are records, changed under /prompts',
  VDB_HOST: STORES,
  WEBSEARCH_PROVIDER: 'there is one provider; WEBSEARCH_BASE_URL says where it is',
  WITH_CHAINLIT_UI: 'there is no Chainlit; chats are at /app/',
  WITH_SURROUNDING_CHUNKS:
    'a chat gets the chunks that were found, and those of INCLUDE_RELATED and INCLUDE_ANCESTORS',
};

/** One sentence for each variable that is set and has no effect: they do not stop the start. */
export function unreadVariableNotes(env: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(UNREAD_VARIABLES)
    .filter(([name]) => (env[name] ?? '') !== '')
    .map(([name, reason]) => `${name} is set but not read: ${reason}`);
}
