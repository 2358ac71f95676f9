import type { Route } from './http/route.js';
import { backupRoutes } from './backups/backup-routes.js';
import { chatRoutes } from './retrieval/chat/chat-routes.js';
import { bareRelationshipRoutes, contentRoutes } from './documents/files/content-routes.js';
import type { GatewayDeps } from './gateway-deps.js';
import { embedderSwapRoutes } from './documents/partitions/embedder-swap-routes.js';
import { embeddingRoutes } from './retrieval/chat/embedding-routes.js';
import { evaluationRunRoutes } from './retrieval/evaluation/evaluation-run-routes.js';
import { conversationRoutes } from './retrieval/conversations/conversation-routes.js';
import { feedbackRoutes } from './retrieval/evaluation/feedback-routes.js';
import { questionSetRoutes } from './retrieval/evaluation/question-set-routes.js';
import { healthRoutes } from './service/health-routes.js';
import { createReadiness } from './service/readiness.js';
import { indexerRoutes } from './documents/files/indexer-routes.js';
import { mcpRoutes } from './mcp/mcp-routes.js';
import { memberRoutes } from './documents/partitions/member-routes.js';
import { modelEndpointRoutes } from './models/model-endpoint-routes.js';
import { modelListRoutes } from './retrieval/chat/model-list-routes.js';
import { modelServerRoutes } from './models/model-server-routes.js';
import { importRoutes } from './imports/import-routes.js';
import { migrationRoutes } from './migrations/migration-routes.js';
import { partitionRoutes } from './documents/partitions/partition-routes.js';
import { partitionSettingsRoutes } from './documents/partitions/partition-settings-routes.js';
import { presetRoutes } from './models/preset-routes.js';
import { promptRoutes } from './models/prompt-routes.js';
import { queueRoutes } from './documents/tasks/queue-routes.js';
import { codecRoutes } from './migrations/codec-routes.js';
import { retentionRoutes } from './documents/tasks/retention-routes.js';
import { scheduleRoutes } from './migrations/schedule-routes.js';
import { workerVersionRoutes } from './migrations/worker-version-routes.js';
import { searchRoutes } from './retrieval/search/search-routes.js';
import { serviceRoutes } from './service/service-routes.js';
import { pageRoutes } from './documents/files/page-routes.js';
import { createScratchRoom } from './documents/files/scratch-room.js';
import { staticRoutes } from './documents/files/static-routes.js';
import { taskRoutes } from './documents/tasks/task-routes.js';
import { toolRoutes } from './documents/files/tool-routes.js';
import { userRoutes } from './documents/users/user-routes.js';
import { workspaceRoutes } from './documents/partitions/workspace-routes.js';

/** The whole document surface. */
export function documentRoutes(deps: GatewayDeps): Route[] {
  const scratch = createScratchRoom(deps.config.http.maxUploadBytes);
  const routes = [
    ...healthRoutes(createReadiness(deps)),
    ...indexerRoutes(deps),
    ...taskRoutes(deps),
    ...queueRoutes(deps),
    ...userRoutes(deps),
    ...serviceRoutes(deps),
    ...migrationRoutes(deps),
    ...backupRoutes({ backups: deps.adapters.backups, workflows: deps.workflows }, 'admin'),
    ...importRoutes(deps),
    ...scheduleRoutes(deps),
    ...retentionRoutes(deps),
    ...codecRoutes(deps),
    ...workerVersionRoutes(deps),
    ...modelEndpointRoutes(deps),
    ...modelServerRoutes(deps),
    ...presetRoutes(deps),
    ...promptRoutes(deps),
    ...partitionRoutes(deps),
    ...partitionSettingsRoutes(deps),
    ...embedderSwapRoutes(deps),
    ...memberRoutes(deps),
    ...workspaceRoutes(deps),
    ...contentRoutes(deps),
    ...searchRoutes(deps),
    ...questionSetRoutes(deps),
    ...evaluationRunRoutes(deps),
    ...feedbackRoutes(deps),
    ...conversationRoutes(deps),
    ...staticRoutes(deps),
    ...pageRoutes(deps, scratch),
  ];
  return [
    ...routes,
    ...mcpRoutes(deps, routes),
    ...(deps.config.chat.enabled
      ? [
          ...modelListRoutes(deps),
          ...chatRoutes(deps),
          ...embeddingRoutes(deps),
          ...toolRoutes(deps, scratch),
        ]
      : []),
    // Last: their first step is a wildcard.
    ...bareRelationshipRoutes(deps),
  ];
}
