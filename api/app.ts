import Router from '@koa/router';
import type { RouterContext } from '@koa/router';
import Koa from 'koa';
import type { Middleware } from 'koa';
import type { RouteAdapters, RateLimits } from '../activities/ports/adapters.js';
import type { SwapStarter } from '../activities/ports/embedder-swaps.js';
import type { EvaluationStarter } from '../activities/ports/evaluation.js';
import type { BackupAdapters, BackupStarter } from '../activities/ports/backups.js';
import type { ImportStarter } from '../activities/ports/imports.js';
import type { MigrationStarter } from '../activities/ports/migrations.js';
import type { ScheduleSteering } from '../activities/ports/schedules.js';
import type { WorkflowStarter } from '../activities/ports/tasks.js';
import type { WorkerVersionSteering } from '../activities/ports/worker-versions.js';
import type { Tracer } from '../activities/ports/tracer.js';
import type { ChatService } from '../activities/retrieval/chat/chat-service.js';
import type { SessionStore } from '../activities/ports/sessions.js';
import type { SearchService } from '../activities/retrieval/search/search-types.js';
import type { Config } from '../schemas/config/config.js';
import { createClientAddress, nameClients } from './http/client-address.js';
import { docsRoutes } from './http/docs-routes.js';
import type { GatewayDeps } from './gateway-deps.js';
import { documentRoutes } from './document-surface.js';
import type { Logger } from './logger.js';
import { createAuthentication, createFindUser } from './http/middleware/authentication.js';
import { crossOrigin, isCodecRequest } from './http/middleware/cross-origin.js';
import type { CodecOrigin } from './http/middleware/cross-origin.js';
import { backupRoutes } from './backups/backup-routes.js';
import { CODEC_PATH } from './migrations/codec-routes.js';
import { errorMapping } from './http/middleware/error-mapping.js';
import { guardOpenAccess } from './http/middleware/open-access.js';
import { noMoreOfApi, noSuchRoute } from './http/middleware/no-such-route.js';
import { createRateLimiting } from './http/middleware/rate-limit.js';
import type { RateLimiting } from './http/middleware/rate-limit.js';
import { requestId } from './http/middleware/request-id.js';
import { requestBodies } from './http/middleware/request-bodies.js';
import type { BodyPace } from './http/middleware/request-bodies.js';
import { CLIENT_LEFT, requestLog } from './http/middleware/request-log.js';
import { requestTrace } from './http/middleware/request-trace.js';
import { requestMetrics } from './http/middleware/request-metrics.js';
import { securityHeaders } from './http/middleware/security-headers.js';
import { mount } from './http/mount.js';
import { createApiKeyCheck, createFindHolder, createTakeKey } from './signals/management/check-api-key.js';
import { sessionCookie } from './session/session-cookie.js';
import { createIdentityProvider } from './session/identity-provider.js';
import type { IdentityProvider } from './session/identity-provider.js';
import { leadToSignIn } from './session/lead-to-sign-in.js';
import { providerRoutes, signInMethodsRoute } from './session/provider-routes.js';
import { sessionRoutes } from './session/session-routes.js';
import { createSessions } from './session/sessions.js';
import type { SessionIdentities, Sessions } from './session/sessions.js';
import { consoleRoutes } from './console/console-routes.js';
import { createGatewayMetrics } from './service/gateway-metrics.js';
import type { GatewayMetrics } from './service/gateway-metrics.js';
import { healthRoutes } from './service/health-routes.js';
import { monitoringRoutes, scrapeRoutes } from './service/metrics-routes.js';
import { rootRoute } from './service/service-routes.js';
import { createProxyReadiness } from './service/readiness.js';
import type { ProxyDeps } from './signals/proxy-deps.js';
import { proxyRoutes } from './signals/proxy-routes.js';
import type { UserRecord } from '../schemas/documents/users.js';
import type { Route } from './http/route.js';
import type { Stopping } from './http/stopping.js';
import { surfaceOf } from './http/surfaces.js';

export interface AppDeps {
  config: Config;
  adapters: RouteAdapters;
  workflows: WorkflowStarter &
    MigrationStarter &
    BackupStarter &
    ImportStarter &
    SwapStarter &
    EvaluationStarter &
    ScheduleSteering &
    WorkerVersionSteering;
  search: SearchService;
  chat: ChatService;
  tools: GatewayDeps['tools'];
  rateLimits: RateLimits;
  sessions: SessionStore;
  /** User 1 with the token of the environment; null, or left out: it is recorded when a user is first asked for. */
  admin?: UserRecord | null;
  /** Folder of the built console; it may be missing. */
  consoleFolder: string;
  /** Of sessions; the clock unless a test sets it. */
  now?: () => Date;
  /** More routes, asked before the document surface's own. */
  moreRoutes?: readonly Route[];
  /** Without it the gateway serves the documents alone. */
  proxy?: ProxyDeps;
  /** The proxy that has a listener of its own: of its routes a session reaches here those that the console needs. */
  proxyAside?: ProxyDeps;
  logger: Logger;
  /** Of the process, where it has several apps; an app's own otherwise. */
  metrics?: GatewayMetrics;
  /** Null, or left out: nothing is traced. */
  tracer?: Tracer | null;
  /** Of the process; left out, streams go on until their clients leave. */
  stopping?: Stopping;
  /** How fast bodies must come; tests set it. */
  bodyPace?: BodyPace;
  /** Checks each answer against its declared schema; tests set it. */
  checkResponses?: boolean;
}

/** What breaks when a client leaves in the middle of its request or of our answer: not logged as a fault. */
const BROKEN_OFF = new Set(['ERR_STREAM_PREMATURE_CLOSE', 'HPE_INVALID_EOF_STATE', 'ECONNRESET', 'EPIPE']);

/** What a gateway that serves the proxy alone, or a listener of its own for it, is made of. */
export type ProxyAppDeps = Pick<
  AppDeps,
  | 'config'
  | 'rateLimits'
  | 'sessions'
  | 'consoleFolder'
  | 'now'
  | 'logger'
  | 'metrics'
  | 'tracer'
  | 'stopping'
  | 'bodyPace'
  | 'checkResponses'
> & {
  proxy: ProxyDeps;
  workflows: Pick<WorkflowStarter, 'ping'> & BackupStarter;
  /** Where there is no other listener that serves them. */
  backups?: BackupAdapters;
  pingRecords: () => Promise<void>;
};

type RouteDeps = Omit<AppDeps, 'logger' | 'checkResponses'>;

/** Temporal's UI, which shows administrators what is encrypted. */
function codecOrigin({ temporal }: Pick<Config, 'temporal'>): CodecOrigin {
  return { path: CODEC_PATH, origin: temporal.uiOrigin };
}

/** Who may be signed in on a listener, and the pages and routes for it. */
function openConsole(
  deps: Pick<AppDeps, 'config' | 'sessions' | 'consoleFolder' | 'now' | 'proxy' | 'proxyAside'>,
  limiting: RateLimiting,
  users: Pick<SessionIdentities, 'findUser' | 'getUser'> = {},
): { sessions: Sessions; routes: Route[] } {
  const { config, now = () => new Date() } = deps;
  const proxy = deps.proxy ?? deps.proxyAside;
  const sessions = createSessions({
    store: deps.sessions,
    settings: config.session,
    isTold: (ctx) => isCodecRequest(ctx, codecOrigin(config)),
    now,
    identities: { ...users, ...(proxy === undefined ? {} : { findHolder: createFindHolder(proxy) }) },
  });
  const routes = [
    ...sessionRoutes({
      sessions,
      limitSignIn: limiting.limitSignIn,
      http: config.http,
      ...(users.findUser !== undefined && { findUser: users.findUser }),
      ...(proxy === undefined ? {} : { takeKey: createTakeKey(proxy) }),
    }),
    ...consoleRoutes(deps.consoleFolder),
    signInMethodsRoute(users.findUser !== undefined && config.auth.oidc !== null),
  ];
  return { sessions, routes };
}

/** The routes that lead to an identity provider and back, where one is configured. */
function openProvider(
  { config, adapters, sessions: store }: RouteDeps,
  sessions: Sessions,
): { provider: IdentityProvider | null; routes: Route[] } {
  const { oidc } = config.auth;
  if (oidc === null) return { provider: null, routes: [] };
  const provider = createIdentityProvider(oidc);
  const { defaultFileQuota } = config.documents;
  const deps = { provider, settings: oidc, adapters, defaultFileQuota, sessions, store, http: config.http };
  return { provider, routes: providerRoutes(deps) };
}

/** The two jobs of the gateway, the console of both, and the description of all. */
function routeTables(deps: RouteDeps, metrics: GatewayMetrics) {
  const { config, adapters } = deps;
  const limiting = createRateLimiting(config, deps.rateLimits);
  const findUser = createFindUser(config.auth, adapters.users, deps.admin);
  const { sessions, routes: console } = openConsole(deps, limiting, {
    findUser,
    getUser: (userId) => adapters.users.get(userId),
  });
  const { provider, routes: provided } = openProvider(deps, sessions);
  const proxy = deps.proxy === undefined ? [] : proxyRoutes({ ...deps.proxy, meter: metrics.meter });
  const documents = [
    ...(deps.moreRoutes ?? []),
    ...scrapeRoutes(config, metrics, limiting.limitSignIn),
    ...monitoringRoutes(metrics),
    ...console,
    ...provided,
    ...documentRoutes({ ...deps, identityProvider: provider }),
  ];
  const authenticate = limiting.limitAuthentication(
    createAuthentication(config.auth, { findUser, partitions: adapters.partitions, sessions }),
  );
  const docs = docsRoutes([...proxy, ...documents], provider === null ? 'public' : 'user');
  const tables = { proxy, documents: [...docs, ...documents] };
  return { ...tables, limiting, sessions, authenticate };
}

/** Every route of the gateway, in the order in which they are asked. */
export function allRoutes(deps: RouteDeps): Route[] {
  const { proxy, documents } = routeTables(deps, createGatewayMetrics());
  return [...proxy, ...documents];
}

/**
 * What every request passes, whichever side it is for.
 * @param leads to an identity provider, whose routes are served here
 */
function createBase(
  { config, logger, bodyPace, tracer }: Pick<AppDeps, 'config' | 'logger' | 'bodyPace' | 'tracer'>,
  metrics: GatewayMetrics,
  leads = false,
): Koa {
  const app = new Koa();
  // Only what breaks while an answer is already on its way arrives here; errors of handlers are mapped before.
  app.on('error', (error: Error & { code?: string }) => {
    if (!BROKEN_OFF.has(error.code ?? '')) logger.error({ err: error }, 'an answer broke off');
  });
  app.use(requestId);
  if (tracer != null) app.use(requestTrace(tracer));
  app.use(requestLog(logger, createClientAddress(config.http.trustedProxies)));
  app.use(requestMetrics((request) => metrics.countRequest(request), CLIENT_LEFT));
  app.use(securityHeaders(config.http));
  app.use(crossOrigin(config.http.corsOrigins, codecOrigin(config)));
  app.use(errorMapping);
  if (leads) app.use(leadToSignIn);
  app.use(guardOpenAccess(config));
  app.use(nameClients(config.http.trustedProxies));
  app.use(requestBodies(bodyPace));
  return app;
}

function proxyRouter(
  routes: readonly Route[],
  sessions: Sessions,
  {
    config,
    proxy,
    checkResponses,
    stopping,
  }: Pick<AppDeps, 'config' | 'proxy' | 'checkResponses' | 'stopping'>,
): Router {
  // Dashboards and local API servers spell a path in one way only (wire contract of the proxy, 1.2).
  const router = new Router({ strict: true, sensitive: true });
  mount(router, routes, {
    checkApiKey: proxy && createApiKeyCheck(proxy, sessions),
    http: config.http,
    checkResponses: checkResponses ?? false,
    ...(stopping === undefined ? {} : { stopping }),
  });
  return router;
}

/**
 * The management side where the proxy is elsewhere: one console shows both sides, and a browser signs in at one origin.
 * Clients with a key use the proxy's own listener; this one serves nothing for them.
 */
function managementForSessions(proxy: ProxyDeps, sessions: Sessions, deps: AppDeps): Middleware {
  const routes = proxyRoutes(proxy).filter(({ auth }) => typeof auth === 'object' && 'key' in auth);
  const router = proxyRouter(routes, sessions, { ...deps, proxy }).routes();
  return (ctx, next) => {
    if (sessionCookie(ctx) === null) return next() as Promise<unknown>;
    return router(ctx as unknown as RouterContext, next) as Promise<unknown>;
  };
}

/** The end of the line: routes of the document surface, then an answer for what no route serves. */
function serveRest(app: Koa, router: Router, limiting: RateLimiting): void {
  app.use(noMoreOfApi);
  app.use(router.routes());
  app.use(async (ctx, next) => {
    if (surfaceOf(ctx.path).name === 'documents') await limiting.limitAddress(ctx);
    await next();
  });
  app.use(noSuchRoute(router));
}

/** The gateway over its dependencies; it opens nothing and listens nowhere by itself. */
export function createApp(deps: AppDeps): Koa {
  const { config, adapters } = deps;
  const metrics = deps.metrics ?? createGatewayMetrics();
  metrics.watchTasks(adapters.tasks);
  metrics.watchMigrations(adapters.migrations.store, () => new Date());
  metrics.watchBackups(adapters.backups, () => new Date());
  metrics.watchDisk(() => adapters.probes.diskUse());
  if (deps.proxy !== undefined) metrics.watchSignals(deps.proxy.alerts, deps.proxy.now);
  const { limiting, sessions, authenticate, ...routes } = routeTables(deps, metrics);
  const router = new Router();
  mount(router, routes.documents, {
    users: { authenticate, partitions: adapters.partitions },
    limitAddress: limiting.limitAddress,
    http: config.http,
    checkResponses: deps.checkResponses ?? false,
    ...(deps.stopping === undefined ? {} : { stopping: deps.stopping }),
  });
  const app = createBase(deps, metrics, config.auth.oidc !== null);
  app.use(proxyRouter(routes.proxy, sessions, deps).routes());
  if (deps.proxyAside !== undefined) app.use(managementForSessions(deps.proxyAside, sessions, deps));
  serveRest(app, router, limiting);
  return app;
}

/** The proxy without the documents: of the document surface only probes, console and description are served. */
export function createProxyApp(deps: ProxyAppDeps): Koa {
  const { config } = deps;
  const metrics = deps.metrics ?? createGatewayMetrics();
  metrics.watchSignals(deps.proxy.alerts, deps.proxy.now);
  const { backups, workflows } = deps;
  if (backups !== undefined) metrics.watchBackups(backups, () => new Date());
  const proxy = [
    ...proxyRoutes({ ...deps.proxy, meter: metrics.meter }),
    ...(backups === undefined
      ? []
      : backupRoutes({ backups, workflows }, { key: 'dashboard', scope: 'admin' })),
  ];
  const limiting = createRateLimiting(config, deps.rateLimits);
  const { sessions, routes: console } = openConsole(deps, limiting);
  const health = [
    ...healthRoutes(createProxyReadiness(deps.pingRecords, deps.workflows, deps.rateLimits)),
    ...scrapeRoutes(config, metrics, limiting.limitSignIn),
    rootRoute,
    ...console,
  ];
  const router = new Router();
  mount(router, [...docsRoutes([...proxy, ...health]), ...health], {
    limitAddress: limiting.limitAddress,
    http: config.http,
    checkResponses: deps.checkResponses ?? false,
    ...(deps.stopping === undefined ? {} : { stopping: deps.stopping }),
  });
  const app = createBase(deps, metrics);
  app.use(proxyRouter(proxy, sessions, deps).routes());
  serveRest(app, router, limiting);
  return app;
}
