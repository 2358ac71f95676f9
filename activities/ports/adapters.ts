/**
 * What activities and the gateway use of stores and servers: one file of interfaces per subject beside this file, and
 * here the whole of them. Adapters live in `stores/` and `models/` and are made in `connect.ts`; fakes for tests in
 * `test/support/fakes/`. One contract suite runs on both.
 *
 * Every method may throw `AppError`: SERVICE_UNAVAILABLE when a record store cannot be reached,
 * VDB_CONNECTION_ERROR for the vector store, others as noted.
 */
import type { Rate } from '../../schemas/config/rate.js';
import type { AccessProblem } from '../../schemas/engine-access.js';
import type { BackupAdapters } from './backups.js';
import type { ChatAdapters } from './chat.js';
import type { ModelServers, PresetStore, PromptStore } from './model-administration.js';
import type { ChunkStore } from './chunks.js';
import type { ConversationStore } from './conversations.js';
import type { EmbedderSwapStore } from './embedder-swaps.js';
import type { EvaluationRunStore, FeedbackStore, QuestionSetStore } from './evaluation.js';
import type { Downloads } from './downloads.js';
import type { BlobStore, ClaimStore, CounterStore, FileStore } from './files.js';
import type { ImportSources, ImportStore } from './imports.js';
import type { ModelEndpointStore, ModelRegistry } from './models.js';
import type { PartitionStore, WorkspaceStore } from './partitions.js';
import type { ChunkIndexes, Migration, MigrationStore } from './migrations.js';
import type { PromptSource } from './prompts.js';
import type { RecordStore } from './record-store.js';
import type { CallbackClient, CallbackStore, TaskStore, WorkerStore } from './tasks.js';
import type { GatewayProxyAdapters, WorkerProxyAdapters } from './signals.js';
import type { SessionStore } from './sessions.js';
import type { QuotaStore, UserStore } from './users.js';

/** What was asked of a rate limit, and what is left of it. */
export interface RateVerdict {
  allowed: boolean;
  remaining: number;
  /** Milliseconds until the window ends; 0 when none is open. */
  resetMs: number;
}

/**
 * Counts in fixed windows, shared by all gateways where there is a store for it. A limit is a convenience for the
 * service and never a reason for a request to fail: no method rejects, and none waits for a store that is away.
 */
export interface RateLimits {
  /** Takes one of what `rate` allows `key` under `name`. A refused one counts as well, as long as its window lasts. */
  take(name: string, rate: Rate, key: string): Promise<RateVerdict>;
  /** The same question without taking any. */
  peek(name: string, rate: Rate, key: string): Promise<RateVerdict>;
  /** Why the store turns us away; null: it does not, is away for another reason, or there is none. */
  problem(): AccessProblem | null;
  close(): Promise<void>;
}

/** Migrations, their records, and the indexes that one of them leaves. */
interface MigrationAdapters {
  store: MigrationStore;
  indexes: Pick<ChunkIndexes, 'list' | 'drop' | 'blockWrites'>;
  migrations: readonly Migration[];
}

/** What both processes reach outside, behind ports. */
export interface Adapters {
  users: UserStore;
  quotas: QuotaStore;
  partitions: PartitionStore;
  files: FileStore;
  tasks: TaskStore;
  workers: WorkerStore;
  callbacks: CallbackStore;
  claims: ClaimStore;
  counters: CounterStore;
  recordStore: RecordStore;
  workspaces: WorkspaceStore;
  presets: PresetStore;
  blobs: BlobStore;
  chunks: ChunkStore;
  models: ModelRegistry;
  endpoints: ModelEndpointStore;
  prompts: PromptStore;
  promptSource: PromptSource;
  embedderSwaps: EmbedderSwapStore;
  questionSets: QuestionSetStore;
  evaluationRuns: EvaluationRunStore;
  feedback: FeedbackStore;
  conversations: ConversationStore;
  imports: ImportStore;
  migrations: MigrationAdapters;
  backups: BackupAdapters;
  /** One probe per engine, each rejecting when its engine cannot be used. */
  probes: {
    mongodb(): Promise<void>;
    opensearch(): Promise<void>;
    /** The used part (0 to 1) of the vector store's fullest data disk; null when it does not tell. */
    diskUse(): Promise<number | null>;
  };
  close(): Promise<void>;
}

export type BackedUpAdapters = Pick<
  Adapters,
  | 'backups'
  | 'blobs'
  | 'chunks'
  | 'claims'
  | 'counters'
  | 'endpoints'
  | 'files'
  | 'models'
  | 'quotas'
  | 'recordStore'
>;

/** What the routes of the document API reach. */
export interface RouteAdapters extends Adapters {
  modelServers: ModelServers;
  downloads: Downloads;
}

/** Everything that the document side of a gateway reaches. */
export type GatewayDocumentAdapters = RouteAdapters & ChatAdapters;

export interface WorkerDocumentAdapters extends Adapters {
  callbackClient: CallbackClient;
  importSources: ImportSources;
}

/** A side that SERVICES leaves out is null, and no client of its engines is made. */
interface Sides<Documents, Proxy> {
  documents: Documents | null;
  /** Null without SECRETS_KEY as well: the watchers' tokens could not be kept, so nothing could be forwarded. */
  proxy: Proxy | null;
  /** Rejects when the record store cannot be used, which both sides need. */
  pingRecords(): Promise<void>;
  /** Ends both sides. */
  close(): Promise<void>;
}
/** A session signs in to both sides at once. */
export type GatewayAdapters = Sides<GatewayDocumentAdapters, GatewayProxyAdapters> & {
  sessions: SessionStore;
  backups: BackupAdapters;
};
export type WorkerAdapters = Sides<WorkerDocumentAdapters, WorkerProxyAdapters> & {
  /** What a backup reads and a restore writes, of whichever sides there are. */
  backedUp: BackedUpAdapters;
};
