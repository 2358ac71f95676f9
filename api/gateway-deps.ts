import type { RateLimits, RouteAdapters } from '../activities/ports/adapters.js';
import type { BackupStarter } from '../activities/ports/backups.js';
import type { SwapStarter } from '../activities/ports/embedder-swaps.js';
import type { EvaluationStarter } from '../activities/ports/evaluation.js';
import type { ImportStarter } from '../activities/ports/imports.js';
import type { MigrationStarter } from '../activities/ports/migrations.js';
import type { ScheduleSteering } from '../activities/ports/schedules.js';
import type { WorkflowStarter } from '../activities/ports/tasks.js';
import type { WorkerVersionSteering } from '../activities/ports/worker-versions.js';
import type { ParserPool } from '../activities/documents/parsing/parser-pool.js';
import type { ChatService } from '../activities/retrieval/chat/chat-service.js';
import type { SearchService } from '../activities/retrieval/search/search-types.js';
import type { Stopping } from './http/stopping.js';
import type { IdentityProvider } from './session/identity-provider.js';
import type { Config } from '../schemas/config/config.js';

/** What the document routes need of the outside. */
export interface GatewayDeps {
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
  rateLimits: RateLimits;
  search: SearchService;
  chat: ChatService;
  stopping?: Stopping;
  /** Null, or left out: there is none. */
  identityProvider?: Pick<IdentityProvider, 'check'> | null;
  tools: {
    parser: Pick<ParserPool, 'extractText' | 'drawPage'>;
    /** Where files stay while a tool works on them. */
    scratchDirectory: string;
  };
}
