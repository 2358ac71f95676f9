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
  'evaluation',
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

/** Search attributes of workflows, registered by deploy: an operator finds workflows by them in Temporal's UI. */
export const KIND_ATTRIBUTE = 'TamisKind';
export const PARTITION_ATTRIBUTE = 'TamisPartition';

/** The value of `TamisKind`: `index-document` of `indexDocument`. */
export function workflowKind(workflowType: string): string {
  return workflowType.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** Workers of an installation as Temporal's worker versioning knows them; the name takes no dots and colons. */
export function workerDeployment(prefix: string): string {
  return `${prefix}tamis`.replaceAll(/[.:]/g, '-');
}

/** Workflow ids are derived from the record that decides, so that starting twice is harmless. */
export function indexWorkflowId(prefix: string, fileKey: string, generation: number): string {
  return `${prefix}index-document/${encodeURIComponent(fileKey)}/${generation}`;
}

/** One clean-up per event that leaves something behind: a replaced generation, an ended task, a deleted file. */
export function cleanWorkflowId(prefix: string, fileKey: string, generation: number): string {
  return `${prefix}clean-document/${encodeURIComponent(fileKey)}/${generation}`;
}

/** One per task with a completion callback. */
export function callbackWorkflowId(prefix: string, taskId: string): string {
  return `${prefix}deliver-callback/${taskId}`;
}

/** One for all: it starts what waits for its turn. */
export function dispatchWorkflowId(prefix: string): string {
  return `${prefix}dispatch-documents`;
}

/** One per change of a file's record that its chunks follow. */
export function settleWorkflowId(prefix: string, fileKey: string, token: string): string {
  return `${prefix}settle-document/${encodeURIComponent(fileKey)}/${token}`;
}

export function cleanPartitionWorkflowId(prefix: string, partitionKey: string): string {
  return `${prefix}clean-partition/${encodeURIComponent(partitionKey)}`;
}

export function reconcileScheduleId(prefix: string): string {
  return `${prefix}reconcile-documents`;
}

/** One actor per watcher: it alone sends that watcher's signals, so their order holds. */
export function forwardWorkflowId(prefix: string, watcher: string): string {
  return `${prefix}forward-signals/${encodeURIComponent(watcher)}`;
}

/** What a watcher's metrics wait for is not what its signals wait for: they have an actor of their own. */
export function metricsWorkflowId(prefix: string, watcher: string): string {
  return `${prefix}forward-metrics/${encodeURIComponent(watcher)}`;
}

/** Records of the documents that go by their age: tasks, callbacks. */
export function retainRecordsScheduleId(prefix: string, of: string): string {
  return `${prefix}retain-${of}`;
}

export function retainQuarantineScheduleId(prefix: string): string {
  return `${prefix}retain-quarantine`;
}

export function retainAlertsScheduleId(prefix: string): string {
  return `${prefix}retain-alerts`;
}

/** One for all: it takes up what a crash left. */
export function upkeepDocumentsWorkflowId(prefix: string): string {
  return `${prefix}upkeep-documents`;
}

export function upkeepSignalsWorkflowId(prefix: string): string {
  return `${prefix}upkeep-signals`;
}

/** One run of a migration at a time. */
export function migrationWorkflowId(prefix: string, name: string): string {
  return `${prefix}migrate/${name}`;
}

/** One backup or restore at a time. */
export function backupWorkflowId(prefix: string): string {
  return `${prefix}backup`;
}

/** One import of a source at a time. */
export function importWorkflowId(prefix: string, sourceId: string): string {
  return `${prefix}import/${sourceId}`;
}

export function backupScheduleId(prefix: string): string {
  return `${prefix}backup-schedule`;
}

/** One swap of a partition's embedder at a time. */
export function swapWorkflowId(prefix: string, partitionKey: string): string {
  return `${prefix}swap-embedder/${encodeURIComponent(partitionKey)}`;
}

/** One evaluation of a partition at a time. */
export function evaluationWorkflowId(prefix: string, partitionKey: string): string {
  return `${prefix}evaluate/${encodeURIComponent(partitionKey)}`;
}

/** Of every partition on an embedder. */
export function swapsWorkflowId(prefix: string, source: string): string {
  return `${prefix}swap-embedders/${encodeURIComponent(source)}`;
}

/** Opens the windows in which a migration runs, where an operator has set some. */
export function migrationScheduleId(prefix: string, name: string): string {
  return `${prefix}migrate-window/${name}`;
}

/** Schedules of an earlier release, whose work the upkeep workflows do now; a worker removes them at its start. */
export function formerScheduleIds(prefix: string) {
  return {
    sweepDocuments: `${prefix}sweep-documents`,
    sweepForwarding: `${prefix}sweep-forwarding`,
    countAlerts: `${prefix}count-alerts`,
  };
}

export function scheduleIds(prefix: string): string[] {
  return [
    reconcileScheduleId(prefix),
    retainAlertsScheduleId(prefix),
    retainQuarantineScheduleId(prefix),
    retainRecordsScheduleId(prefix, 'tasks'),
    retainRecordsScheduleId(prefix, 'callbacks'),
    backupScheduleId(prefix),
    ...MIGRATIONS.map((name) => migrationScheduleId(prefix, name)),
    ...Object.values(formerScheduleIds(prefix)),
  ];
}
