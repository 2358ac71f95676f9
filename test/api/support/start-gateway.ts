import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { pino } from 'pino';
import { Agent } from 'undici';
import { allRoutes, createApp, createProxyApp } from '../../../api/app.js';
import type { BodyPace } from '../../../api/http/middleware/request-bodies.js';
import { tokenDigest } from '../../../api/http/middleware/authentication.js';
import type { ProxyDeps } from '../../../api/signals/proxy-deps.js';
import type { Route } from '../../../api/http/route.js';
import { BUILTIN_ENDPOINTS } from '../../../activities/models/builtin/builtin-endpoints.js';
import { builtinModels, createModelRegistry } from '../../../activities/models/model-registry.js';
import { createGuardedDispatcher } from '../../../activities/outbound/address-guard.js';
import { createDownloads } from '../../../activities/outbound/downloads.js';
import { createModelServers } from '../../../activities/models/model-servers.js';
import { createEndpointModels } from '../../../activities/models/endpoint-models.js';
import { createOnnxModels } from '../../../activities/models/onnx/onnx-models.js';
import { createParserPool } from '../../../activities/documents/parsing/parser-pool.js';
import type { ParserPool } from '../../../activities/documents/parsing/parser-pool.js';
import { BUNDLED_PROMPTS } from '../../../activities/models/seeds/bundled-prompts.js';
import { createStoredPromptSource } from '../../../activities/models/seeds/stored-prompts.js';
import { seededPresets } from '../../../activities/models/seeds/seeded-presets.js';
import type { RouteAdapters, RateLimits } from '../../../activities/ports/adapters.js';
import { createEncryption } from '../../../activities/stores/mongo/encryption.js';
import { createInProcessRateLimits } from '../../../activities/stores/redis/rate-limits.js';
import type { ChatAdapters } from '../../../activities/ports/chat.js';
import { createChatService } from '../../../activities/retrieval/chat/chat-service.js';
import type { ChatService } from '../../../activities/retrieval/chat/chat-service.js';
import { createSearchService } from '../../../activities/retrieval/search/search-service.js';
import { parseConfig } from '../../../schemas/config/config.js';
import type { Role, UserRecord } from '../../../schemas/documents/users.js';
import { createFakeBackups } from '../../support/fakes/backups/fake-backups.js';
import { createFakeMigrations } from '../../support/fakes/migrations/fake-migrations.js';
import { createFakeWorkflows } from './fake-workflows.js';
import { openDocumentStores } from './open-stores.js';
import { endServer, listenOnLoopback } from '../../support/loopback-server.js';

export const ADMIN_TOKEN = 'or-admin-0123456789abcdef';

export interface GatewayOptions {
  env?: Record<string, string>;
  chat?: ChatService;
  /** What the real chat service is given; bundled prompts and no web search otherwise. */
  chatAdapters?: Partial<ChatAdapters>;
  /** Puts faults between the gateway and its stores. */
  adapt?: (adapters: RouteAdapters) => RouteAdapters;
  /** Those of this gateway alone unless given; off unless `env` turns them on. */
  rateLimits?: RateLimits;
  /** Routes that no table has, to see what a test makes of them. */
  plant?: readonly Route[];
  /** Records user 1 at the start, as the service does. */
  settlesAdmin?: boolean;
  /** Reads files for tools; real parser processes unless given. */
  parser?: Pick<ParserPool, 'extractText'>;
  /** How fast bodies must come. */
  bodyPace?: BodyPace;
  /** Serves the proxy as well. */
  proxy?: ProxyDeps;
  /** The proxy has a listener of its own. */
  isProxyAside?: boolean;
  /** The proxy is served without the documents. */
  isProxyAlone?: boolean;
  /** Of sessions. */
  now?: () => Date;
  /** Of the built console; there is none unless given. */
  consoleFolder?: string;
}

export type Gateway = Awaited<ReturnType<typeof startGateway>>;

/** On, as they are where the service runs, and out of every test's way that is not about them. */
const WIDE_LIMITS = Object.fromEntries(
  ['RATE_LIMIT_DEFAULT', 'RATE_LIMIT_AUTH', 'RATE_LIMIT_CHAT', 'RATE_LIMIT_AUTH_FAILURE']
    .concat('RETRIEVAL_DIAGNOSTICS_RATE_LIMIT')
    .map((name) => [name, '1000000/minute']),
);

/**
 * The real app on a loopback port, over stores in memory unless told otherwise; every answer is checked against its
 * declared schema.
 */
export async function startGateway(options: GatewayOptions = {}) {
  const config = parseConfig({ AUTH_TOKEN: ADMIN_TOKEN, ...WIDE_LIMITS, ...options.env });
  const opened = await openDocumentStores();
  const { endpoints, ...stores } = opened.stores;
  for (const endpoint of BUILTIN_ENDPOINTS) {
    await endpoints.seed(endpoint);
    await endpoints.setDefaultIfUnset(endpoint.model_type, endpoint.name);
  }
  const dispatcher = new Agent();
  const keys =
    config.secretsKey === null ? null : createEncryption(Buffer.from(config.secretsKey, 'base64'), []);
  const onnx = createOnnxModels({ folder: config.models.modelsDirectory });
  const remote = createEndpointModels({
    dispatcher,
    onnx,
    endpoints,
    chunks: stores.chunks,
    keys,
    settings: config.models,
  });
  const models = createModelRegistry({
    endpoints,
    builders: [builtinModels, remote],
    contextTokens: config.chat.contextTokens,
  });
  await stores.chunks.ensureSchema(
    (await endpoints.list('embedder')).map(({ vector_field, dimension }) => ({
      vectorField: vector_field ?? '',
      dimension: dimension ?? 0,
    })),
  );

  for (const preset of seededPresets(config)) await stores.presets.seed(preset);
  await stores.prompts.seed(BUNDLED_PROMPTS);
  const fakeMigrations = createFakeMigrations();
  const fakeBackups = createFakeBackups();
  const own: RouteAdapters = {
    ...stores,
    models,
    endpoints,
    promptSource: createStoredPromptSource(stores.prompts),
    modelServers: createModelServers({ dispatcher, onnx, keys, registry: models }),
    downloads: createDownloads(
      createGuardedDispatcher({
        allowPrivate: config.downloads.allowPrivateAddresses,
        connectTimeoutMs: 5000,
      }),
    ),
    migrations: fakeMigrations,
    backups: fakeBackups,
    probes: { mongodb: async () => {}, opensearch: async () => {}, diskUse: async () => null },
    close: async () => {},
  };
  const adapters = options.adapt?.(own) ?? own;
  const workflows = createFakeWorkflows(config.temporal.prefix);
  const search = createSearchService({ ...adapters, settings: config.search });
  const chat =
    options.chat ??
    createChatService({
      ...adapters,
      search,
      settings: config.chat,
      now: () => new Date(),
      overrides: { languageModel: () => adapters.models.languageModel() },
      web: null,
      ...options.chatAdapters,
    });

  const logLines: string[] = [];
  const sink = new Writable({
    write: (line: Buffer, _encoding, done) => {
      logLines.push(line.toString());
      done();
    },
  });
  const parser = createParserPool({ size: 1 });
  const scratchDirectory = await mkdtemp(join(tmpdir(), 'tamis-gateway-test-'));
  const tools = { parser: { ...parser, ...options.parser }, scratchDirectory };
  const proxy =
    options.proxy === undefined
      ? {}
      : { [options.isProxyAside === true ? 'proxyAside' : 'proxy']: options.proxy };
  const rateLimits = options.rateLimits ?? createInProcessRateLimits();
  const admin =
    options.settlesAdmin === true
      ? await adapters.users.ensureAdmin(config.auth.token === null ? null : tokenDigest(config.auth.token))
      : null;
  const deps = {
    config,
    admin,
    adapters,
    workflows: workflows.starter,
    search,
    chat,
    tools,
    ...proxy,
    rateLimits,
    sessions: opened.sessions,
    consoleFolder: options.consoleFolder ?? join(scratchDirectory, 'no-console'),
    ...(options.now === undefined ? {} : { now: options.now }),
    ...(options.plant === undefined ? {} : { moreRoutes: options.plant }),
  };
  const ofApp = {
    ...(options.bodyPace === undefined ? {} : { bodyPace: options.bodyPace }),
    logger: pino({ level: 'debug' }, sink),
    checkResponses: true,
  };
  const app =
    options.isProxyAlone === true && options.proxy !== undefined
      ? createProxyApp({
          ...deps,
          ...ofApp,
          proxy: options.proxy,
          backups: fakeBackups,
          pingRecords: async () => {},
        })
      : createApp({ ...deps, ...ofApp });
  /** What a test has prepared and not waited for: no request is served before it is stored. */
  const prepared: Promise<unknown>[] = [];
  const serve = app.callback();
  // As the service's own: a test that computes for longer than Node's 5 s would meet a closed connection.
  const server = createServer({ keepAliveTimeout: 75_000 }, (request, response) => {
    void Promise.all(prepared).then(
      () => serve(request, response),
      (error: unknown) => response.destroy(error as Error),
    );
  });
  const { url } = await listenOnLoopback(server);

  // Far from the numbers that the service itself gives.
  let nextUser = 1001;
  return {
    url,
    adapters,
    workflows,
    sessions: opened.sessions,
    logLines,
    scratchDirectory,
    routes: allRoutes(deps),
    /** What the routes of migrations see. */
    migrations: fakeMigrations,
    backups: fakeBackups,
    /** A user of their own; answers the token. */
    addUser(name: string, rights: Partial<UserRecord> = {}): { token: string; userId: number } {
      const token = `or-${name}-0123456789abcdef`;
      const userId = nextUser++;
      prepared.push(
        stores.users.create({
          user_id: userId,
          display_name: name,
          external_user_id: null,
          email: null,
          is_admin: false,
          file_quota: null,
          token_digest: tokenDigest(token),
          ...rights,
        }),
      );
      return { token, userId };
    },
    /** Of a partition that exists; in force with the next request, like the above. */
    addMember(userId: number, partition: string, role: Role): void {
      prepared.push(stores.partitions.addMember(partition, userId, role));
    },
    /** A request with the admin's token unless another (or null for none) is given. */
    call(
      method: string,
      path: string,
      init: RequestInit & { token?: string | null } = {},
    ): Promise<Response> {
      const { token = ADMIN_TOKEN, ...rest } = init;
      const headers = new Headers(rest.headers);
      if (token !== null) headers.set('Authorization', `Bearer ${token}`);
      return fetch(`${url}${path}`, { method, redirect: 'manual', ...rest, headers });
    },
    /** As when a gateway is restarted at once. */
    breakConnections(): void {
      server.closeAllConnections();
    },
    async close(): Promise<void> {
      await endServer(server);
      await Promise.all([dispatcher.destroy(), onnx.close(), own.downloads.close(), parser.close()]);
      await opened.close();
      await rm(scratchDirectory, { recursive: true, force: true });
    },
  };
}
