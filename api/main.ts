import { rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import type Koa from 'koa';
import { createCapiPassThrough } from './signals/relay/capi-pass-through.js';
import { rulesFolder } from '../activities/signals/rules/rules-folder.js';
import { readProxyFile } from '../activities/signals/rules/read-proxy-file.js';
import { connectGateway, connectShared } from '../activities/connect.js';
import { createLogger, logModelCalls, logTracing } from '../activities/create-logger.js';
import { listenOn } from '../activities/listen-on.js';
import { createMetrics } from '../activities/metrics.js';
import type { GatewayDocumentAdapters } from '../activities/ports/adapters.js';
import { capiAnswerOf } from '../activities/ports/meter.js';
import { openGeoLookup } from '../activities/signals/reading/geo-lookup.js';
import { openRuleRegistry } from '../activities/signals/rules/rule-registry.js';
import type { RuleRegistry } from '../activities/signals/rules/rule-registry.js';
import { createParserPool } from '../activities/documents/parsing/parser-pool.js';
import { createScratchDirectory } from '../activities/documents/parsing/scratch-directory.js';
import { openTracing, tracedMeter } from '../activities/tracing.js';
import { keepMemoryLow } from '../activities/keep-memory-low.js';
import { createChatService } from '../activities/retrieval/chat/chat-service.js';
import { createSearchService } from '../activities/retrieval/search/search-service.js';
import { ConfigError, EX_CONFIG } from '../schemas/config/config-error.js';
import { parseConfig } from '../schemas/config/config.js';
import { unreadVariableNotes } from '../schemas/config/environment.js';
import { readEnvironment } from '../schemas/config/read-environment.js';
import { accessProblemOf } from '../schemas/engine-access.js';
import { createApp, createProxyApp } from './app.js';
import { seedUsers } from '../activities/documents/commands/seed-users.js';
import { clientOf, createClientAddress } from './http/client-address.js';
import { tokenDigest } from './http/middleware/authentication.js';
import type { ProxyDeps } from './signals/proxy-deps.js';
import { createGatewayMetrics } from './service/gateway-metrics.js';
import { createApiKeyRateLimit } from './signals/management/api-key-rate-limit.js';
import { createStopping } from './http/stopping.js';
import { connectTemporal } from './temporal.js';

/** A gigabyte over a slow line takes longer than Node's default of five minutes for a request. */
const REQUEST_TIMEOUT_MS = 3_600_000;
/**
 * Longer than proxies and clients keep an idle connection (mostly 60 s): with Node's 5 s a client that was busy for a
 * moment sends its next request into a connection that we have just closed, and a POST is not repeated.
 */
const KEEP_ALIVE_MS = 75_000;

/** Used where neither FILTERS_DIR nor CONFIG_PATH names another folder. */
const SHIPPED_RULES = fileURLToPath(new URL('../deploy/filters.d/', import.meta.url));

/** Used where CONSOLE_DIR names no other folder. */
const BUILT_CONSOLE = fileURLToPath(new URL('../web/dist/', import.meta.url));

/**
 * What a signal to stop does. Until requests are served there is nothing to end, and connecting may take minutes:
 * without a handler the first process of a container is not even ended by the signal.
 */
let stop: (signal: NodeJS.Signals) => void = () => process.exit(0);
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stop(signal));

function exitIfMisconfigured(error: unknown): void {
  if (!(error instanceof ConfigError)) return;
  process.stderr.write(`${error.message}\n`);
  process.exit(EX_CONFIG);
}

function orExit<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    exitIfMisconfigured(error);
    throw error;
  }
}

keepMemoryLow();
const environment = orExit(() => readEnvironment(process.env));
const config = orExit(() => parseConfig(environment));
const logger = createLogger(config.log, 'gateway');
for (const note of unreadVariableNotes(environment)) logger.warn(note);
const shared = orExit(() =>
  connectShared(config, (state, cause) => {
    if (state === 'ready') logger.info('Redis is there: rate limits and caches are shared by all gateways');
    else logger.warn({ err: cause }, 'Redis is away: each gateway limits for itself meanwhile');
  }),
);
const tracer = await openTracing(config, 'gateway', logTracing(logger));
const counted = createMetrics(logModelCalls(logger));
const metrics = createGatewayMetrics({ ...counted, meter: tracedMeter(counted.meter, tracer) });
metrics.watchProcess();
const adapters = await connectGateway(config, shared.openCache, metrics.meter).catch((error: unknown) => {
  exitIfMisconfigured(error);
  logger.fatal({ err: error }, accessProblemOf(error)?.message ?? 'the gateway cannot reach its stores');
  // Once the line is written: the log is asynchronous.
  logger.flush(() => process.exit(1));
  return new Promise<never>(() => {});
});
const workflows = orExit(() => connectTemporal(config, metrics.meter, tracer));
// A gateway serves without Temporal for a while; one that is turned away must be told of.
void workflows.ping().catch((error: unknown) => {
  const problem = accessProblemOf(error);
  if (problem !== undefined) logger.error(problem.message);
});

/** Users, search, chat and tools, where documents are served. */
async function openDocuments(documents: GatewayDocumentAdapters) {
  const search = createSearchService({
    ...documents,
    meter: metrics.meter,
    log: logger,
    settings: config.search,
  });
  const chat = createChatService({ ...documents, search, settings: config.chat, now: () => new Date() });
  if (config.auth.token === null)
    logger.warn(
      { host: config.http.host },
      'AUTH_TOKEN is not set: authentication is off, and every request runs as the administrator',
    );
  const admin = await documents.users
    .ensureAdmin(config.auth.token === null ? null : tokenDigest(config.auth.token))
    // Asked again at the first request that needs it.
    .catch((error: unknown) => {
      exitIfMisconfigured(error);
      logger.warn({ err: error }, 'the administrator could not be recorded yet');
      return null;
    });
  await seedUsers(documents, config.auth.seedUsers, config.documents.defaultFileQuota)
    // Tried again at the next start; a gateway that serves is worth more.
    .catch((error: unknown) => logger.error({ err: error }, 'not every account of SEED_USERS could be made'));
  // Its processes start when a tool is first executed.
  const parser = createParserPool({
    size: config.parsing.concurrency,
    totalMemoryMb: config.parsing.totalMemoryMb,
    limits: {
      memoryMb: config.parsing.memoryMb,
      maxPages: config.parsing.maxPages,
      maxOcrPages: config.parsing.maxOcrPages,
      ocrLanguages: config.parsing.ocrLanguages,
    },
  });
  const scratchDirectory = await createScratchDirectory('gateway');
  return {
    adapters: documents,
    admin,
    search,
    chat,
    tools: { parser, scratchDirectory },
    async close(): Promise<void> {
      await parser.close();
      await rm(scratchDirectory, { recursive: true, force: true });
    },
  };
}

const documents = adapters.documents === null ? null : await openDocuments(adapters.documents);

const passThrough = createCapiPassThrough({
  baseUrl: config.proxy.capiUrl,
  timeoutMs: config.proxy.timeoutMs,
  onAnswer: (status) => metrics.meter.capiAnswered('relay', capiAnswerOf(status)),
});
let ruleRegistry: RuleRegistry | null = null;

async function openProxy(): Promise<ProxyDeps | null> {
  if (adapters.proxy === null) {
    if (config.services.proxy) logger.warn('SECRETS_KEY is not set: the filtering proxy is off');
    return null;
  }
  const { configPath, geoipPath } = config.proxy;
  const readMain = () => readProxyFile(configPath, environment);
  const { lapiServers, unread } = await readMain();
  for (const key of unread) logger.warn({ file: configPath }, `CONFIG_PATH: ${key}`);
  ruleRegistry = await openRuleRegistry({
    directories: [rulesFolder(config.proxy, SHIPPED_RULES)],
    mainFile: configPath,
    readMain,
    saved: adapters.proxy.savedRules,
    onChange({ version, rules, faults }) {
      logger.info({ version, rules: rules.length }, 'filter rules in force');
      for (const fault of faults) logger.warn(fault, 'a rule file cannot be used as it is');
    },
  });
  const geo =
    geoipPath === null
      ? null
      : await openGeoLookup(geoipPath).catch((error: unknown) => {
          logger.warn(
            { err: error, file: geoipPath },
            'the GeoIP database cannot be used: enrichment is off',
          );
          return null;
        });
  if (config.proxy.dashboardApiKey === null)
    logger.warn('DASHBOARD_API_KEY is not set: every call under /api is refused');
  return {
    ...adapters.proxy,
    forwarding: workflows,
    unauthenticated: createApiKeyRateLimit({
      limits: shared.rateLimits,
      rate: config.proxy.unauthenticatedRate,
      addressOf: clientOf,
    }),
    addressOf: createClientAddress(config.http.trustedProxies),
    rules: ruleRegistry,
    geo,
    passThrough: passThrough.passThrough,
    settings: { ...config.proxy, lapiServers },
    validated: shared.openCache('validated', config.proxy.access.validation.maxEntries),
    now: () => new Date(),
  };
}

const proxy = await openProxy().catch((error: unknown) => {
  exitIfMisconfigured(error);
  throw error;
});

const stopping = createStopping();
const common = {
  metrics,
  tracer,
  config,
  workflows,
  logger,
  rateLimits: shared.rateLimits,
  sessions: adapters.sessions,
  stopping,
  consoleFolder: config.http.consoleDirectory ?? BUILT_CONSOLE,
};

function serveProxy(deps: ProxyDeps): Koa {
  return createProxyApp({
    ...common,
    proxy: deps,
    pingRecords: () => adapters.pingRecords(),
    ...(documents === null ? { backups: adapters.backups } : {}),
  });
}

/** What listens where: one app for both sides, one for each, or the one side that there is. */
const apps = ((): { name: string; port: number; app: Koa }[] => {
  const { port, proxyPort } = config.http;
  if (documents === null) return proxy === null ? [] : [{ name: 'port', port, app: serveProxy(proxy) }];
  const together = proxy !== null && proxyPort === null;
  const app = createApp({
    ...common,
    ...documents,
    ...(proxy === null ? {} : { [together ? 'proxy' : 'proxyAside']: proxy }),
  });
  return [
    { name: 'port', port, app },
    ...(proxy === null || proxyPort === null
      ? []
      : [{ name: 'proxy_port', port: proxyPort, app: serveProxy(proxy) }]),
  ];
})();
const servers = apps.map(({ app, ...listener }) => {
  const answer = app.callback();
  const server = createServer(
    { requestTimeout: REQUEST_TIMEOUT_MS, keepAliveTimeout: KEEP_ALIVE_MS },
    (request, response) => void answer(request, response),
  );
  return { ...listener, server };
});

async function close(): Promise<void> {
  await Promise.allSettled([
    workflows.close(),
    passThrough.close(),
    shared.close(),
    ruleRegistry?.close(),
    documents?.close(),
    adapters.close(),
  ]);
  // Last: closing may end requests that were broken off.
  await tracer?.close();
  logger.info('gateway stopped');
  logger.flush(() => process.exit(0));
}

stop = (signal) => {
  if (stopping.begun.aborted) return;
  logger.info({ signal }, 'gateway stopping');
  void stopping.stop(servers.map(({ server }) => server)).then(close);
};

async function listen({ name, port, server }: (typeof servers)[number]): Promise<[string, number]> {
  try {
    const bound = await listenOn(server, { port, host: config.http.host }, (error) =>
      logger.error({ err: error, port }, 'a connection could not be accepted'),
    );
    return [name, bound];
  } catch (error) {
    logger.fatal({ err: error, port }, 'the gateway cannot listen');
    logger.flush(() => process.exit(1));
    // Nothing is said to be ready meanwhile.
    return new Promise(() => undefined);
  }
}

const bound = await Promise.all(servers.map(listen));
logger.info({ host: config.http.host, ...Object.fromEntries(bound) }, 'gateway ready');
