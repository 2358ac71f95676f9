import type { Route } from '../route.js';
import { chatRoutes } from './chat-routes.js';
import { bareRelationshipRoutes, contentRoutes } from './content-routes.js';
import type { DocumentDeps } from './document-deps.js';
import { embeddingRoutes } from './embedding-routes.js';
import { healthRoutes } from './health-routes.js';
import { indexerRoutes } from './indexer-routes.js';
import { memberRoutes } from './member-routes.js';
import { modelEndpointRoutes } from './model-endpoint-routes.js';
import { modelListRoutes } from './model-list-routes.js';
import { modelServerRoutes } from './model-server-routes.js';
import { partitionRoutes } from './partition-routes.js';
import { partitionSettingsRoutes } from './partition-settings-routes.js';
import { presetRoutes } from './preset-routes.js';
import { promptRoutes } from './prompt-routes.js';
import { queueRoutes } from './queue-routes.js';
import { searchRoutes } from './search-routes.js';
import { serviceRoutes } from './service-routes.js';
import { staticRoutes } from './static-routes.js';
import { taskRoutes } from './task-routes.js';
import { toolRoutes } from './tool-routes.js';
import { userRoutes } from './user-routes.js';
import { workspaceRoutes } from './workspace-routes.js';

/** The whole document surface. */
export const documentRoutes = (deps: DocumentDeps): Route[] => [
  ...healthRoutes(deps),
  ...indexerRoutes(deps),
  ...taskRoutes(deps),
  ...queueRoutes(deps),
  ...userRoutes(deps),
  ...serviceRoutes(deps),
  ...modelEndpointRoutes(deps),
  ...modelServerRoutes(deps),
  ...presetRoutes(deps),
  ...promptRoutes(deps),
  ...partitionRoutes(deps),
  ...partitionSettingsRoutes(deps),
  ...memberRoutes(deps),
  ...workspaceRoutes(deps),
  ...contentRoutes(deps),
  ...searchRoutes(deps),
  ...staticRoutes(deps),
  ...(deps.config.chat.enabled
    ? [...modelListRoutes(deps), ...chatRoutes(deps), ...embeddingRoutes(deps), ...toolRoutes(deps)]
    : []),
  // Last: their first step is a wildcard.
  ...bareRelationshipRoutes(deps),
];
