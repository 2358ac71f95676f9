import type { Route } from '../route.js';
import { chatRoutes } from './chat-routes.js';
import type { DocumentDeps } from './document-deps.js';
import { healthRoutes } from './health-routes.js';
import { indexerRoutes } from './indexer-routes.js';
import { partitionRoutes } from './partition-routes.js';
import { searchRoutes } from './search-routes.js';
import { taskRoutes } from './task-routes.js';

/** The whole document surface. */
export const documentRoutes = (deps: DocumentDeps): Route[] => [
  ...healthRoutes(deps),
  ...indexerRoutes(deps),
  ...taskRoutes(deps),
  ...partitionRoutes(deps),
  ...searchRoutes(deps),
  ...(deps.config.chat.enabled ? chatRoutes(deps) : []),
];
