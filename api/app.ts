import Router from '@koa/router';
import Koa from 'koa';
import type { Adapters, WorkflowStarter } from '../activities/ports.js';
import type { ChatService } from '../activities/retrieval/chat-service.js';
import type { SearchService } from '../activities/retrieval/search-service.js';
import type { Config } from '../schemas/config.js';
import { docsRoutes } from './docs-routes.js';
import { documentRoutes } from './documents/document-routes.js';
import type { Logger } from './logger.js';
import { createAuthentication } from './middleware/authentication.js';
import { errorMapping } from './middleware/error-mapping.js';
import { noSuchRoute } from './middleware/no-such-route.js';
import { requestId } from './middleware/request-id.js';
import { requestLog } from './middleware/request-log.js';
import { securityHeaders } from './middleware/security-headers.js';
import { mount } from './mount.js';
import type { Route } from './route.js';

export interface AppDeps {
  config: Config;
  adapters: Adapters;
  workflows: WorkflowStarter;
  search: SearchService;
  chat: ChatService;
  logger: Logger;
  /** Checks each answer against its declared schema; tests set it. */
  checkResponses?: boolean;
}

/** What breaks when a client leaves in the middle of its request or of our answer: no fault of anybody. */
const CLIENT_LEFT = new Set(['ERR_STREAM_PREMATURE_CLOSE', 'HPE_INVALID_EOF_STATE', 'ECONNRESET', 'EPIPE']);

/** Every route of the gateway, in the order in which they are asked. */
export const allRoutes = (deps: Omit<AppDeps, 'logger' | 'checkResponses'>): Route[] => {
  const documents = documentRoutes(deps);
  return [...docsRoutes(documents), ...documents];
};

/** The gateway over its dependencies; it opens nothing and listens nowhere by itself. */
export const createApp = (deps: AppDeps): Koa => {
  const { config, adapters, logger } = deps;
  const router = new Router();
  mount(router, allRoutes(deps), {
    authenticate: createAuthentication(config.auth, adapters),
    partitions: adapters.partitions,
    http: config.http,
    checkResponses: deps.checkResponses ?? false,
  });

  const app = new Koa();
  // Only what breaks while an answer is already on its way arrives here; errors of handlers are mapped before.
  app.on('error', (error: Error & { code?: string }) => {
    if (!CLIENT_LEFT.has(error.code ?? '')) logger.error({ err: error }, 'an answer broke off');
  });
  app.use(requestId);
  app.use(requestLog(logger));
  app.use(securityHeaders);
  app.use(errorMapping);
  app.use(router.routes());
  app.use(noSuchRoute(router));
  return app;
};
