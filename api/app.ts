import Router from '@koa/router';
import Koa from 'koa';
import type { RouteAdapters, RateLimits } from '../activities/ports/adapters.js';
import type { MigrationStarter } from '../activities/ports/migrations.js';
import type { ScheduleSteering } from '../activities/ports/schedules.js';
import type { WorkflowStarter } from '../activities/ports/tasks.js';
import type { ChatService } from '../activities/retrieval/chat/chat-service.js';
import type { SearchService } from '../activities/retrieval/search/search-types.js';
import type { Config } from '../schemas/config/config.js';
import { docsRoutes } from './http/docs-routes.js';
import type { GatewayDeps } from './gateway-deps.js';
import { documentRoutes } from './document-surface.js';
import type { Logger } from './logger.js';
import { createAuthentication } from './http/middleware/authentication.js';
import { crossOrigin } from './http/middleware/cross-origin.js';
import { errorMapping } from './http/middleware/error-mapping.js';
import { noSuchRoute } from './http/middleware/no-such-route.js';
import { createRateLimiting } from './http/middleware/rate-limit.js';
import { requestId } from './http/middleware/request-id.js';
import { requestBodies } from './http/middleware/request-bodies.js';
import type { BodyPace } from './http/middleware/request-bodies.js';
import { requestLog } from './http/middleware/request-log.js';
import { securityHeaders } from './http/middleware/security-headers.js';
import { mount } from './http/mount.js';
import { createApiKeyCheck } from './signals/management/check-api-key.js';
import type { ProxyDeps } from './signals/proxy-deps.js';
import { proxyRoutes } from './signals/proxy-routes.js';
import type { Route } from './http/route.js';
import { surfaceOf } from './http/surfaces.js';

export interface AppDeps {
  config: Config;
  adapters: RouteAdapters;
  workflows: WorkflowStarter & MigrationStarter & ScheduleSteering;
  search: SearchService;
  chat: ChatService;
  tools: GatewayDeps['tools'];
  rateLimits: RateLimits;
  /** More routes, asked before the document surface's own. */
  moreRoutes?: readonly Route[];
  /** Without it the gateway serves the documents alone. */
  proxy?: ProxyDeps;
  logger: Logger;
  /** How fast bodies must come; tests set it. */
  bodyPace?: BodyPace;
  /** Checks each answer against its declared schema; tests set it. */
  checkResponses?: boolean;
}

/** What breaks when a client leaves in the middle of its request or of our answer: not logged as a fault. */
const CLIENT_LEFT = new Set(['ERR_STREAM_PREMATURE_CLOSE', 'HPE_INVALID_EOF_STATE', 'ECONNRESET', 'EPIPE']);

type RouteDeps = Omit<AppDeps, 'logger' | 'checkResponses' | 'rateLimits'>;

/** The two jobs of the gateway and the description of both. */
const routeTables = (deps: RouteDeps) => {
  const proxy = deps.proxy === undefined ? [] : proxyRoutes(deps.proxy);
  const documents = [...(deps.moreRoutes ?? []), ...documentRoutes(deps)];
  return { proxy, documents: [...docsRoutes([...proxy, ...documents]), ...documents] };
};

/** Every route of the gateway, in the order in which they are asked. */
export const allRoutes = (deps: RouteDeps): Route[] => {
  const { proxy, documents } = routeTables(deps);
  return [...proxy, ...documents];
};

/** The gateway over its dependencies; it opens nothing and listens nowhere by itself. */
export const createApp = (deps: AppDeps): Koa => {
  const { config, adapters, logger } = deps;
  const routes = routeTables(deps);
  const limiting = createRateLimiting(config, deps.rateLimits);
  const options = {
    authenticate: limiting.limitAuthentication(createAuthentication(config.auth, adapters)),
    checkApiKey: deps.proxy && createApiKeyCheck(deps.proxy),
    partitions: adapters.partitions,
    http: config.http,
    checkResponses: deps.checkResponses ?? false,
  };
  // Dashboards and local API servers spell a path in one way only (wire contract of the proxy, 1.2).
  const proxy = new Router({ strict: true, sensitive: true });
  mount(proxy, routes.proxy, options);
  const router = new Router();
  mount(router, routes.documents, { ...options, limitAddress: limiting.limitAddress });

  const app = new Koa();
  // Only what breaks while an answer is already on its way arrives here; errors of handlers are mapped before.
  app.on('error', (error: Error & { code?: string }) => {
    if (!CLIENT_LEFT.has(error.code ?? '')) logger.error({ err: error }, 'an answer broke off');
  });
  app.use(requestId);
  app.use(requestLog(logger));
  app.use(securityHeaders(config.http));
  app.use(crossOrigin(config.http.corsOrigins));
  app.use(errorMapping);
  app.use(requestBodies(deps.bodyPace));
  app.use(proxy.routes());
  app.use(router.routes());
  app.use(async (ctx, next) => {
    if (surfaceOf(ctx.path).name === 'documents') await limiting.limitAddress(ctx);
    await next();
  });
  app.use(noSuchRoute(router));
  return app;
};
