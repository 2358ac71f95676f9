import {
  ParentClosePolicy,
  getExternalWorkflowHandle,
  proxyActivities,
  startChild,
  uuid4,
} from '@temporalio/workflow';
import type { MigrationActivities } from '../../activities/migrations/migration-activities.js';
import type { MigrationName } from '../../schemas/migrations/migrations.js';
import { migrationWorkflowId } from '../../schemas/ids.js';
import { taskQueues } from '../../schemas/task-queues.js';
import { quick } from '../activity-profiles.js';
import { migrate, windowSignal } from './migrate.js';

export interface MigrationWindowInput {
  prefix: string;
  name: MigrationName;
  unit: string;
  /** How long the window is. */
  windowMs: number;
  pagesPerSecond: number | null;
}

/**
 * Started by a schedule at the beginning of a window: a run that did not finish in the last one goes on; otherwise one
 * is started if there is anything to migrate. The run pauses by itself at the end of the window.
 */
export async function openMigrationWindow(
  input: MigrationWindowInput,
): Promise<'continued' | 'started' | 'nothing to do'> {
  const { prefix, name, unit, pagesPerSecond } = input;
  const taskQueue = taskQueues(prefix).migrations;
  const { isMigrationPending } = proxyActivities<MigrationActivities>({ ...quick, taskQueue });
  const workflowId = migrationWorkflowId(prefix, name);
  const windowEndsAt = Date.now() + input.windowMs;
  try {
    await getExternalWorkflowHandle(workflowId).signal(windowSignal, windowEndsAt);
    return 'continued';
  } catch {
    // None is open.
  }
  if (!(await isMigrationPending({ name }))) return 'nothing to do';
  await startChild(migrate, {
    workflowId,
    taskQueue,
    parentClosePolicy: ParentClosePolicy.ABANDON,
    args: [
      {
        prefix,
        runId: uuid4(),
        name,
        mode: 'run',
        unit,
        pagesPerSecond,
        startedBy: 'schedule',
        windowEndsAt,
      },
    ],
    staticSummary: `migration ${name}`,
  });
  return 'started';
}
