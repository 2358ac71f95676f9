import {
  Client,
  Connection,
  WorkflowExecutionAlreadyStartedError,
  WorkflowFailedError,
} from '@temporalio/client';
import type { WorkflowHandle } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/common';
import type { WorkflowStarter } from '../activities/ports/tasks.js';
import type { BackupStarter } from '../activities/ports/backups.js';
import type { ImportStarter } from '../activities/ports/imports.js';
import type { MigrationStarter } from '../activities/ports/migrations.js';
import type { ScheduleSteering } from '../activities/ports/schedules.js';
import type { SwapStarter } from '../activities/ports/embedder-swaps.js';
import type { EvaluationStarter } from '../activities/ports/evaluation.js';
import type { ForwardingStarter } from '../activities/ports/signals.js';
import { temporalDataConverter } from '../activities/temporal/data-converter.js';
import { attributingInterceptors } from '../activities/temporal/search-attributes.js';
import type { WorkerVersionSteering } from '../activities/ports/worker-versions.js';
import {
  handshakeProblem,
  temporalConnection,
  temporalProblem,
} from '../activities/temporal/temporal-access.js';
import { UNMEASURED } from '../activities/ports/meter.js';
import type { Meter } from '../activities/ports/meter.js';
import type { Tracer } from '../activities/ports/tracer.js';
import { AppError } from '../schemas/app-error.js';
import type { Config } from '../schemas/config/config.js';
import type { ErrorCode } from '../schemas/error-table.js';
import {
  backupWorkflowId,
  cleanPartitionWorkflowId,
  cleanWorkflowId,
  dispatchWorkflowId,
  evaluationWorkflowId,
  forwardWorkflowId,
  importWorkflowId,
  indexWorkflowId,
  metricsWorkflowId,
  migrationWorkflowId,
  settleWorkflowId,
  swapWorkflowId,
  swapsWorkflowId,
} from '../schemas/ids.js';
import { taskQueues } from '../schemas/task-queues.js';
import { LATE, orLate } from '../activities/temporal/or-late.js';
import { callInterceptor } from './temporal-calls.js';
import { away, createScheduleSteering } from './temporal-schedules.js';
import type { RunBackupInput, runBackup } from '../workflows/backups/run-backup.js';
import { createVersionSteering } from './temporal-versions.js';
import type { cleanDocument } from '../workflows/documents/clean-document.js';
import type { cleanPartition } from '../workflows/documents/clean-partition.js';
import type { dispatchDocuments } from '../workflows/documents/dispatch-documents.js';
import type { evaluate } from '../workflows/retrieval/evaluate.js';
import type { forwardMetrics } from '../workflows/signals/forward-metrics.js';
import type { forwardSignals } from '../workflows/signals/forward-signals.js';
import type { indexDocument } from '../workflows/documents/index-document.js';
import type { importService } from '../workflows/imports/import-service.js';
import type { migrate } from '../workflows/migrations/migrate.js';
import type { swapEmbedder } from '../workflows/documents/swap-embedder.js';
import type { swapEmbedders } from '../workflows/documents/swap-embedders.js';
import type { settleDocument } from '../workflows/documents/settle-document.js';

/** A gateway answers its client soon, whatever Temporal does: the sweep starts what this did not. */
const DEADLINE_MS = 2000;
/** A probe ends before who asked for it has turned away. */
const PING_MS = 1800;
/** One that is not answered so long looks at the handshake, whose faults no call tells of. */
const DOUBT_MS = 700;
/**
 * A schedule answers by a workflow of Temporal's own. A question that the server's worker does not take from its own
 * queue goes to the common one after five seconds, so that a deadline of five loses exactly that answer.
 */
const SCHEDULE_DEADLINE_MS = 8000;
/** A deployment's state is a workflow of Temporal's own as well, and who promotes a release asks again. */
const VERSION_DEADLINE_MS = 5000;

/** A workflow whose record says that it has ended is over by then. */
const ENDING_MS = 1000;

/**
 * A signal that `workflows/signals/forward-signals.ts` defines, as are `resume` and `retry`; its values are not for us.
 */
const WAKE = 'wake';
/** Likewise of `workflows/documents/dispatch-documents.ts`. */
const QUEUED = 'queued';

/** What sends on what a watcher pushed, by kind: a workflow for each watcher. */
const ACTORS = {
  signals: { type: 'forwardSignals', idOf: forwardWorkflowId },
  metrics: { type: 'forwardMetrics', idOf: metricsWorkflowId },
};

/**
 * The gateway's line to Temporal. It connects at the first call and again by itself, so a gateway starts and takes
 * uploads while Temporal is away.
 * @throws ConfigError when a file of certificates cannot be read
 */
export function connectTemporal(
  config: Pick<Config, 'temporal' | 'documents' | 'secretsKey' | 'formerSecretsKeys'>,
  meter: Pick<Meter, 'engineCalled'> = UNMEASURED,
  tracer: Tracer | null = null,
): WorkflowStarter &
  ForwardingStarter &
  MigrationStarter &
  BackupStarter &
  ImportStarter &
  SwapStarter &
  EvaluationStarter &
  ScheduleSteering &
  WorkerVersionSteering & { close(): Promise<void> } {
  const { namespace, prefix } = config.temporal;
  const connection = Connection.lazy({
    ...temporalConnection(config.temporal),
    connectTimeout: DEADLINE_MS,
  });
  const attributing = attributingInterceptors(config.temporal);
  const client = new Client({
    connection,
    namespace,
    dataConverter: temporalDataConverter(config),
    interceptors: {
      workflow: [attributing.workflow, callInterceptor(meter, tracer)],
      schedule: [attributing.schedule],
    },
  });
  const taskQueue = taskQueues(prefix).documents;
  const withDeadline = <T>(call: () => Promise<T>): Promise<T> =>
    connection.withDeadline(Date.now() + DEADLINE_MS, call);

  /** Starts an actor unless it runs, and tells it. */
  const startAndTell = async (kind: keyof typeof ACTORS, watcher: string, signal: string): Promise<void> => {
    const { type, idOf } = ACTORS[kind];
    await withDeadline(() =>
      client.workflow.signalWithStart<typeof forwardSignals | typeof forwardMetrics>(type, {
        workflowId: idOf(prefix, watcher),
        taskQueue: taskQueues(prefix).alerts,
        args: [{ prefix, watcher }],
        signal,
        memo: { watcher },
        staticSummary: `${kind} of ${watcher}`,
      }),
    );
  };

  const orAway = async (call: Promise<void>): Promise<void> => {
    try {
      await call;
    } catch (error) {
      throw away(error);
    }
  };

  /** A workflow whose id says what it is for: running already is as good as started. */
  const startOnce = <T extends (input: never) => Promise<void>>(
    type: string,
    options: {
      workflowId: string;
      args: [Parameters<T>[0]];
      memo?: { partition: string };
      staticSummary: string;
    },
  ): Promise<void> =>
    withDeadline(async () => {
      try {
        await client.workflow.start(type, { taskQueue, ...options });
      } catch (error) {
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      }
    });

  /** The code is answered where none runs. */
  const steer = async (
    workflowId: string,
    code: ErrorCode,
    ask: (run: WorkflowHandle) => Promise<unknown>,
  ): Promise<void> => {
    try {
      await withDeadline(() => ask(client.workflow.getHandle(workflowId)));
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) throw new AppError(code);
      throw away(error);
    }
  };

  /** Signals that `workflows/migrations/migrate.ts` defines, and `workflows/imports/import-service.ts`. */
  const steerMigration = (name: string, ask: (run: WorkflowHandle) => Promise<unknown>): Promise<void> =>
    steer(migrationWorkflowId(prefix, name), 'MIGRATION_NOT_RUNNING', ask);
  const steerImport = (sourceId: string, ask: (run: WorkflowHandle) => Promise<unknown>): Promise<void> =>
    steer(importWorkflowId(prefix, sourceId), 'IMPORT_NOT_RUNNING', ask);

  /** The workflow of this run, which its memo names; null when it has ended, or the id is another run's by now. */
  const handleOfRun = async (workflowId: string, runId: string): Promise<WorkflowHandle | null> => {
    const { memo, raw, status } = await client.workflow.getHandle(workflowId).describe();
    if (memo?.['run_id'] !== runId || status.name !== 'RUNNING') return null;
    // All its executions are named by the first one; what begins behind them is not meant.
    const firstExecutionRunId = raw.workflowExecutionInfo?.firstRunId || undefined;
    const named = firstExecutionRunId === undefined ? {} : { firstExecutionRunId };
    return client.workflow.getHandle(workflowId, undefined, named);
  };

  /**
   * Temporal takes a cancel of a workflow that has ended for a success, so it is asked whether this one runs.
   * @throws WorkflowNotFoundError
   */
  const cancelOpen = async (run: WorkflowHandle): Promise<void> => {
    const { status } = await run.describe();
    if (status.name !== 'RUNNING') throw new WorkflowNotFoundError('It has ended', run.workflowId, undefined);
    await run.cancel();
  };

  /** False when none runs under this id, or none for the run that is named. */
  const cancelled = async (workflowId: string, runId?: string): Promise<boolean> => {
    try {
      return await withDeadline(async () => {
        const handle =
          runId === undefined ? client.workflow.getHandle(workflowId) : await handleOfRun(workflowId, runId);
        if (handle !== null) await cancelOpen(handle);
        return handle !== null;
      });
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return false;
      throw away(error);
    }
  };

  /** Whether a workflow that was running has ended, or does so within a second. */
  const endsSoon = async (workflowId: string): Promise<boolean> => {
    try {
      await connection.withDeadline(Date.now() + ENDING_MS, () =>
        client.workflow.getHandle(workflowId).result(),
      );
      return true;
    } catch (error) {
      return error instanceof WorkflowFailedError || error instanceof WorkflowNotFoundError;
    }
  };

  /**
   * A workflow that one run at a time has: the code is answered while there is one. Its record says that a run has
   * ended some milliseconds before the workflow has, and who read that may start the next.
   */
  const startAlone = async (code: ErrorCode, start: () => Promise<unknown>): Promise<void> => {
    const isTaken = (error: unknown): error is WorkflowExecutionAlreadyStartedError =>
      error instanceof WorkflowExecutionAlreadyStartedError;
    try {
      await withDeadline(start).catch(async (error: unknown) => {
        if (!isTaken(error) || !(await endsSoon(error.workflowId))) throw error;
        await withDeadline(start);
      });
    } catch (error) {
      if (isTaken(error)) throw new AppError(code);
      throw away(error);
    }
  };

  const startBackupRun = (summary: string, input: RunBackupInput & { runId: string }): Promise<void> =>
    startAlone('BACKUP_RUNNING', () =>
      client.workflow.start<typeof runBackup>('runBackup', {
        workflowId: backupWorkflowId(prefix),
        workflowIdConflictPolicy: 'FAIL',
        taskQueue: taskQueues(prefix).migrations,
        args: [input],
        memo: { run_id: input.runId, started_by: input.startedBy },
        staticSummary: summary,
      }),
    );

  return {
    startBackup: (run) => startBackupRun('backup', { prefix, kind: 'backup', ...run }),
    startRestore: (run) => startBackupRun(`restore of ${run.backupId}`, { prefix, kind: 'restore', ...run }),
    cancelBackup: () => steer(backupWorkflowId(prefix), 'BACKUP_NOT_RUNNING', cancelOpen),

    async startIndexing(task, { small = false } = {}) {
      try {
        await withDeadline(() =>
          client.workflow.start<typeof indexDocument>(
            task.kind === 'copy' ? 'copyDocument' : 'indexDocument',
            {
              workflowId: indexWorkflowId(prefix, task.file_key, task.generation),
              workflowIdReusePolicy: 'REJECT_DUPLICATE',
              taskQueue,
              args: [
                {
                  taskId: task.task_id,
                  fileKey: task.file_key,
                  generation: task.generation,
                  ...(task.has_callback === true ? { callback: true } : {}),
                  ...(small ? { small } : {}),
                  prefix,
                  timeoutMs: config.documents.taskTimeoutMs,
                },
              ],
              memo: { task_id: task.task_id, partition: task.partition, file_id: task.file_id },
              staticSummary: `${task.file_id} in ${task.partition}`,
            },
          ),
        );
      } catch (error) {
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      }
    },

    async cancelIndexing({ file_key, generation }) {
      await withDeadline(async () => {
        try {
          await client.workflow.getHandle(indexWorkflowId(prefix, file_key, generation)).cancel();
        } catch (error) {
          if (!(error instanceof WorkflowNotFoundError)) throw error;
        }
      });
    },

    startCleaning: (fileKey, generation) =>
      startOnce<typeof cleanDocument>('cleanDocument', {
        workflowId: cleanWorkflowId(prefix, fileKey, generation),
        args: [{ prefix, fileKey }],
        staticSummary: `clean-up of file ${fileKey}`,
      }),

    startSettling: (fileKey, token) =>
      startOnce<typeof settleDocument>('settleDocument', {
        workflowId: settleWorkflowId(prefix, fileKey, token),
        args: [{ prefix, fileKey, token }],
        staticSummary: `chunks of file ${fileKey} after a change of its record`,
      }),

    startCleaningPartition: ({ partition, partition_key }) =>
      startOnce<typeof cleanPartition>('cleanPartition', {
        workflowId: cleanPartitionWorkflowId(prefix, partition_key),
        args: [{ prefix, partition, partitionKey: partition_key }],
        memo: { partition },
        staticSummary: `removal of the partition ${partition}`,
      }),

    async notifyDispatcher() {
      await withDeadline(async () => {
        await client.workflow.signalWithStart<typeof dispatchDocuments>('dispatchDocuments', {
          workflowId: dispatchWorkflowId(prefix),
          taskQueue,
          args: [{ prefix, timeoutMs: config.documents.taskTimeoutMs }],
          signal: QUEUED,
          staticSummary: 'turns of the uploads that wait',
        });
      });
    },

    notifySignals: (watcher) => startAndTell('signals', watcher, WAKE),

    notifyMetrics: (watcher) => startAndTell('metrics', watcher, WAKE),

    urge: (watcher, word) => orAway(startAndTell('signals', watcher, word)),

    urgeMetrics: (watcher) => orAway(startAndTell('metrics', watcher, 'retry')),

    startMigration: (run) =>
      startAlone('MIGRATION_RUNNING', () =>
        client.workflow.start<typeof migrate>('migrate', {
          workflowId: migrationWorkflowId(prefix, run.name),
          workflowIdConflictPolicy: 'FAIL',
          taskQueue: taskQueues(prefix).migrations,
          args: [{ prefix, ...run }],
          memo: { run_id: run.runId, started_by: run.startedBy },
          staticSummary: `migration ${run.name}${run.mode === 'run' ? '' : ` (${run.mode})`}`,
        }),
      ),

    startSwap: (swap) =>
      startAlone('EMBEDDER_SWAP_IN_PROGRESS', () =>
        client.workflow.start<typeof swapEmbedder>('swapEmbedder', {
          workflowId: swapWorkflowId(prefix, swap.partition_key),
          workflowIdConflictPolicy: 'FAIL',
          taskQueue,
          args: [{ prefix, swap }],
          memo: { swap_id: swap.swap_id, partition: swap.partition, started_by: swap.started_by },
          staticSummary: `${swap.partition} from ${swap.source_embedder} to ${swap.target_embedder}`,
        }),
      ),

    startSwaps: (swaps) =>
      startAlone('EMBEDDER_SWAP_IN_PROGRESS', () =>
        client.workflow.start<typeof swapEmbedders>('swapEmbedders', {
          workflowId: swapsWorkflowId(prefix, swaps.source),
          workflowIdConflictPolicy: 'FAIL',
          taskQueue,
          args: [{ prefix, ...swaps }],
          memo: { started_by: swaps.startedBy },
          staticSummary: `all partitions from ${swaps.source} to ${swaps.target}`,
        }),
      ),

    cancelSwap: (partitionKey) => cancelled(swapWorkflowId(prefix, partitionKey)),

    startEvaluation: (run) =>
      startAlone('EVALUATION_RUNNING', () =>
        client.workflow.start<typeof evaluate>('evaluate', {
          workflowId: evaluationWorkflowId(prefix, run.partition_key),
          workflowIdConflictPolicy: 'FAIL',
          taskQueue,
          args: [{ prefix, run }],
          memo: { run_id: run.run_id, partition: run.partition, started_by: run.started_by },
          staticSummary: `${run.set} version ${run.version} over ${run.partition}`,
        }),
      ),

    cancelEvaluation: (run) => cancelled(evaluationWorkflowId(prefix, run.partition_key), run.run_id),

    pauseMigration: (name) => steerMigration(name, (run) => run.signal('pause')),
    resumeMigration: (name) => steerMigration(name, (run) => run.signal('resume')),
    paceMigration: (name, pages) => steerMigration(name, (run) => run.signal('pace', pages)),
    cancelMigration: (name) => steerMigration(name, cancelOpen),

    startImport: (run) =>
      startAlone('IMPORT_RUNNING', () =>
        client.workflow.start<typeof importService>('importService', {
          workflowId: importWorkflowId(prefix, run.sourceId),
          workflowIdConflictPolicy: 'FAIL',
          taskQueue: taskQueues(prefix).migrations,
          args: [{ prefix, timeoutMs: config.documents.taskTimeoutMs, ...run }],
          memo: { run_id: run.runId, started_by: run.startedBy },
          staticSummary: `import from ${run.sourceId}${run.dryRun ? ' (dry run)' : ''}`,
        }),
      ),
    pauseImport: (sourceId) => steerImport(sourceId, (run) => run.signal('pause')),
    resumeImport: (sourceId) => steerImport(sourceId, (run) => run.signal('resume')),
    cancelImport: (sourceId) => steerImport(sourceId, cancelOpen),

    ...createScheduleSteering(client, prefix, (call) =>
      connection.withDeadline(Date.now() + SCHEDULE_DEADLINE_MS, call),
    ),

    ...createVersionSteering(client, { namespace, prefix }, (call) =>
      connection.withDeadline(Date.now() + VERSION_DEADLINE_MS, call),
    ),

    async ping() {
      // The namespace too: one that is missing, or not ours, is of as little use as a server that is away.
      const asked = connection.withDeadline(Date.now() + PING_MS, async () => {
        await client.workflowService.describeNamespace({ namespace });
      });
      const isLate = (await orLate(asked, DOUBT_MS).catch(() => null)) === LATE;
      const problem = isLate ? await handshakeProblem(config.temporal) : undefined;
      try {
        // To its end: a call that is still tried again must not find the connection closed.
        await asked;
      } catch (error) {
        throw problem ?? temporalProblem(error, config.temporal) ?? error;
      }
    },

    async close() {
      await connection.close();
    },
  };
}
