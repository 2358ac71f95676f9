import type { SwapStarter } from '../../../activities/ports/embedder-swaps.js';
import type { EvaluationStarter } from '../../../activities/ports/evaluation.js';
import type { BackupStarter } from '../../../activities/ports/backups.js';
import type { ImportStarter } from '../../../activities/ports/imports.js';
import type { MigrationStarter } from '../../../activities/ports/migrations.js';
import type { ScheduleSteering } from '../../../activities/ports/schedules.js';
import type { WorkerVersion, WorkerVersionSteering } from '../../../activities/ports/worker-versions.js';
import type { WorkflowStarter } from '../../../activities/ports/tasks.js';
import { AppError } from '../../../schemas/app-error.js';
import type { ErrorCode } from '../../../schemas/error-table.js';
import { createFakeSchedules } from '../../support/fakes/migrations/fake-schedules.js';

/** What the gateway asked of Temporal; `away` makes every call fail, as when Temporal is down. */
export function createFakeWorkflows(prefix = '') {
  const scheduled = createFakeSchedules(prefix);
  const asked = { started: [] as string[], cancelled: [] as string[], cleaned: [] as string[] };
  const more = {
    settled: [] as string[],
    cleanedPartitions: [] as string[],
    migrated: [] as string[],
    swapped: [] as string[],
    evaluated: [] as string[],
    backedUp: [] as string[],
    imported: [] as string[],
  };
  /** Partition keys whose swap is at work. */
  const swapping = new Set<string>();
  /** The run that evaluates a partition, by its key. */
  const evaluating = new Map<string, string>();
  const state = {
    away: false,
    /** The workflows of migrations, backups and imports were ended in Temporal: none is found to be steered. */
    terminated: false,
    dispatches: 0,
    versions: [] as WorkerVersion[],
  };
  const ask = async (list: string[], what: string): Promise<void> => {
    if (state.away) throw new Error('connect ECONNREFUSED 10.1.2.3:7233');
    list.push(what);
  };
  const steer = async (list: string[], what: string, code: ErrorCode): Promise<void> => {
    await ask(list, what);
    if (state.terminated) throw new AppError(code);
  };
  const starter: WorkflowStarter &
    MigrationStarter &
    BackupStarter &
    ImportStarter &
    SwapStarter &
    EvaluationStarter &
    ScheduleSteering &
    WorkerVersionSteering = {
    ...scheduled.steering,
    startMigration: ({ name, mode, runId }) => ask(more.migrated, `${mode} ${name} ${runId}`),
    async startSwap({ partition, partition_key, target_embedder }) {
      await ask(more.swapped, `${partition} to ${target_embedder}`);
      if (swapping.has(partition_key)) throw new AppError('EMBEDDER_SWAP_IN_PROGRESS');
      swapping.add(partition_key);
    },
    startSwaps: ({ source, target, concurrency }) =>
      ask(more.swapped, `all of ${source} to ${target}, ${concurrency} at a time`),
    async cancelSwap(partitionKey) {
      await ask(more.swapped, 'cancel');
      return swapping.delete(partitionKey);
    },
    async startEvaluation({ run_id, partition, partition_key, set, version }) {
      if (state.away) throw new AppError('SERVICE_UNAVAILABLE');
      if (evaluating.has(partition_key)) throw new AppError('EVALUATION_RUNNING');
      await ask(more.evaluated, `${set} v${version} over ${partition}`);
      evaluating.set(partition_key, run_id);
    },
    async cancelEvaluation({ run_id, partition_key }) {
      await ask(more.evaluated, 'cancel');
      return evaluating.get(partition_key) === run_id && evaluating.delete(partition_key);
    },
    startBackup: ({ vectors, runId }) =>
      ask(more.backedUp, `backup ${vectors ? 'with' : 'without'} vectors ${runId}`),
    startRestore: ({ backupId, replace, runId }) =>
      ask(more.backedUp, `restore ${backupId}${replace ? ' in place of what is there' : ''} ${runId}`),
    cancelBackup: () => steer(more.backedUp, 'cancel', 'BACKUP_NOT_RUNNING'),
    startImport: ({ sourceId, dryRun, requestsPerSecond, startedBy }) =>
      ask(
        more.imported,
        `${dryRun ? 'dry run' : 'import'} of ${sourceId} by ${startedBy}, ${requestsPerSecond} a second`,
      ),
    pauseImport: (sourceId) => ask(more.imported, `pause ${sourceId}`),
    resumeImport: (sourceId) => ask(more.imported, `resume ${sourceId}`),
    cancelImport: (sourceId) => steer(more.imported, `cancel ${sourceId}`, 'IMPORT_NOT_RUNNING'),
    async workerVersions() {
      if (state.away) throw new AppError('SERVICE_UNAVAILABLE');
      return [...state.versions];
    },
    async promoteWorkers(buildId) {
      if (!state.versions.some((version) => version.buildId === buildId)) throw new AppError('NOT_FOUND');
      state.versions = state.versions.map((version) => ({
        ...version,
        state: version.buildId === buildId ? 'current' : 'draining',
      }));
    },
    pauseMigration: (name) => ask(more.migrated, `pause ${name}`),
    resumeMigration: (name) => ask(more.migrated, `resume ${name}`),
    paceMigration: (name, pages) => ask(more.migrated, `pace ${name} ${pages}`),
    cancelMigration: (name) => steer(more.migrated, `cancel ${name}`, 'MIGRATION_NOT_RUNNING'),
    startIndexing: (task) => ask(asked.started, task.task_id),
    cancelIndexing: (task) => ask(asked.cancelled, `${task.file_key}/${task.generation}`),
    startCleaning: (fileKey, generation) => ask(asked.cleaned, `${fileKey}/${generation}`),
    startSettling: (fileKey) => ask(more.settled, fileKey),
    startCleaningPartition: ({ partition }) => ask(more.cleanedPartitions, partition),
    notifyDispatcher: async () => {
      await ask([], 'dispatch');
      state.dispatches += 1;
    },
    ping: () => ask([], 'ping'),
  };
  return { ...asked, ...more, swapping, evaluating, scheduled, state, starter };
}
