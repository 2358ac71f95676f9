import { MIGRATIONS } from './migrations/migrations.js';

/** Client-chosen ids: 1 to 255 characters of `A-Z a-z 0-9 . _ : -` (wire contract, section 2). */
export const IDENTIFIER_PATTERN = /^[A-Za-z0-9._:-]{1,255}$/;

/** Names that would collide with a first path segment in use, or with the word for "all partitions". */
export const RESERVED_PARTITION_NAMES: ReadonlySet<string> = new Set([
  'all',
  'app',
  'v1',
  'v2',
  'v3',
  'search',
  'partition',
  'users',
  'api',
  'indexer',
  'extract',
  'static',
  'queue',
  'actors',
  'auth',
  'config',
  'docs',
  'redoc',
  'openapi.json',
  'health',
  'health_check',
  'ready',
  'version',
  'metrics',
  'admin',
  'monitoring',
  'model-endpoints',
  'presets',
  'prompts',
  'mcp',
  'chainlit',
  'assets',
  '.',
  '..',
]);

/** The header of Temporal's in which the id of the request goes along. */
export const REQUEST_ID_HEADER = 'tamis-request-id';

/** Likewise the span that started a workflow, written as the W3C header of that name. */
export const TRACE_HEADER = 'traceparent';

/** Workflow ids are derived from the record that decides, so that starting twice is harmless. */
export const indexWorkflowId = (prefix: string, fileKey: string, generation: number): string =>
  `${prefix}index-document/${encodeURIComponent(fileKey)}/${generation}`;

/** One clean-up per event that leaves something behind: a replaced generation, an ended task, a deleted file. */
export const cleanWorkflowId = (prefix: string, fileKey: string, generation: number): string =>
  `${prefix}clean-document/${encodeURIComponent(fileKey)}/${generation}`;

/** One per task with a completion callback. */
export const callbackWorkflowId = (prefix: string, taskId: string): string =>
  `${prefix}deliver-callback/${taskId}`;

/** One for all: it starts what waits for its turn. */
export const dispatchWorkflowId = (prefix: string): string => `${prefix}dispatch-documents`;

/** One per change of a file's record that its chunks follow. */
export const settleWorkflowId = (prefix: string, fileKey: string, token: string): string =>
  `${prefix}settle-document/${encodeURIComponent(fileKey)}/${token}`;

export const cleanPartitionWorkflowId = (prefix: string, partitionKey: string): string =>
  `${prefix}clean-partition/${encodeURIComponent(partitionKey)}`;

export const reconcileScheduleId = (prefix: string): string => `${prefix}reconcile-documents`;

/** One actor per watcher: it alone sends that watcher's signals, so their order holds. */
export const forwardWorkflowId = (prefix: string, watcher: string): string =>
  `${prefix}forward-signals/${encodeURIComponent(watcher)}`;

/** What a watcher's metrics wait for is not what its signals wait for: they have an actor of their own. */
export const metricsWorkflowId = (prefix: string, watcher: string): string =>
  `${prefix}forward-metrics/${encodeURIComponent(watcher)}`;

export const retainAlertsScheduleId = (prefix: string): string => `${prefix}retain-alerts`;

/** One for all: it takes up what a crash left. */
export const upkeepDocumentsWorkflowId = (prefix: string): string => `${prefix}upkeep-documents`;

export const upkeepSignalsWorkflowId = (prefix: string): string => `${prefix}upkeep-signals`;

/** One run of a migration at a time. */
export const migrationWorkflowId = (prefix: string, name: string): string => `${prefix}migrate/${name}`;

/** One swap of a partition's embedder at a time. */
export const swapWorkflowId = (prefix: string, partitionKey: string): string =>
  `${prefix}swap-embedder/${encodeURIComponent(partitionKey)}`;

/** Of every partition on an embedder. */
export const swapsWorkflowId = (prefix: string, source: string): string =>
  `${prefix}swap-embedders/${encodeURIComponent(source)}`;

/** Opens the windows in which a migration runs, where an operator has set some. */
export const migrationScheduleId = (prefix: string, name: string): string =>
  `${prefix}migrate-window/${name}`;

/** Schedules of an earlier release, whose work the upkeep workflows do now; a worker removes them at its start. */
export const formerScheduleIds = (prefix: string) => ({
  sweepDocuments: `${prefix}sweep-documents`,
  sweepForwarding: `${prefix}sweep-forwarding`,
  countAlerts: `${prefix}count-alerts`,
});

export const scheduleIds = (prefix: string): string[] => [
  reconcileScheduleId(prefix),
  retainAlertsScheduleId(prefix),
  ...MIGRATIONS.map((name) => migrationScheduleId(prefix, name)),
  ...Object.values(formerScheduleIds(prefix)),
];
