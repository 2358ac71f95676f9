import { randomUUID } from 'node:crypto';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import type { Client } from '@temporalio/client';
import type { Migration } from '../activities/ports/migrations.js';
import { migrationWorkflowId } from '../schemas/ids.js';
import type { MigrationName } from '../schemas/migrations/migrations.js';
import { taskQueues } from '../schemas/task-queues.js';

/** Those that need no decision of an operator: they make nothing slow and leave nothing dark. */
const AT_THE_START: readonly MigrationName[] = ['default-embedder', 'records'];

/** A run that a worker of the release before took, which does not know what is pending, is followed by another. */
const LOOK_AGAIN_MS = 15 * 60_000;

/**
 * Starts what is pending of the migrations that run by themselves, one run of each however many workers start at
 * once, and looks again every quarter of an hour. Answers what ends that.
 */
export function startPendingMigrations(
  { client, prefix, onError }: { client: Client; prefix: string; onError: (error: unknown) => void },
  migrations: readonly Migration[],
): () => void {
  const look = async ({ isStart }: { isStart: boolean }): Promise<void> => {
    for (const migration of migrations.filter(({ name }) => AT_THE_START.includes(name))) {
      const pending = await migration.pending();
      // At the start a run says in its record what is in the way; later it is not said again and again.
      if (pending !== null && (isStart || pending.obstacle === null)) await start(client, prefix, migration);
    }
  };
  const timer = setInterval(() => {
    look({ isStart: false }).catch(onError);
  }, LOOK_AGAIN_MS);
  look({ isStart: true }).catch(onError);
  return () => clearInterval(timer);
}

async function start(client: Client, prefix: string, { name, unit }: Migration): Promise<void> {
  const runId = randomUUID();
  const startedBy = 'start';
  try {
    await client.workflow.start('migrate', {
      workflowId: migrationWorkflowId(prefix, name),
      workflowIdConflictPolicy: 'FAIL',
      taskQueue: taskQueues(prefix).migrations,
      args: [{ prefix, runId, name, mode: 'run', unit, pagesPerSecond: null, startedBy }],
      memo: { run_id: runId, started_by: startedBy },
      staticSummary: `migration ${name}`,
    });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}
