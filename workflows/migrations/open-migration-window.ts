import {
  ParentClosePolicy,
  getExternalWorkflowHandle,
  proxyActivities,
  setCurrentDetails,
  startChild,
  uuid4,
  workflowInfo,
} from '@temporalio/workflow';
import type { MigrationActivities } from '../../activities/migrations/migration-activities.js';
import type { MigrationName } from '../../schemas/migrations/migrations.js';
import { migrationWorkflowId } from '../../schemas/ids.js';
import { taskQueues } from '../../schemas/task-queues.js';
import { defineSearchAttributeKey } from '@temporalio/common';
import { quick } from '../activity-profiles.js';
import { migrate, windowSignal } from './migrate.js';

/** Temporal sets it on what a schedule starts. */
const scheduledStart = defineSearchAttributeKey('TemporalScheduledStartTime', 'DATETIME');

export interface MigrationWindowInput {
  prefix: string;
  name: MigrationName;
  unit: string;
  /** How long the window is. */
  windowMs: number;
  pagesPerSecond: number | null;
}

/**
 * Started by a schedule at the beginning of a window: a run that did not finish in the last one goes on; one that keeps
 * to no window is left alone; where none is open, one is started if there is anything to migrate. The run pauses by
 * itself at the end of the window, which counts from when the window should have begun: workers may have been away.
 */
export async function openMigrationWindow(
  input: MigrationWindowInput,
): Promise<'continued' | 'started' | 'nothing to do' | 'over'> {
  const { prefix, name, unit, pagesPerSecond } = input;
  const taskQueue = taskQueues(prefix).migrations;
  const { isMigrationPending } = proxyActivities<MigrationActivities>({ ...quick, taskQueue });
  const workflowId = migrationWorkflowId(prefix, name);
  const windowEndsAt = windowBegan() + input.windowMs;
  setCurrentDetails(`lets ${name} migrate until ${new Date(windowEndsAt).toISOString()}`);
  if (Date.now() >= windowEndsAt) return 'over';
  try {
    await getExternalWorkflowHandle(workflowId).signal(windowSignal, windowEndsAt);
    return 'continued';
  } catch {
    // None is open.
  }
  if (!(await isMigrationPending({ name }))) return 'nothing to do';
  const runId = uuid4();
  const startedBy = 'schedule';
  await startChild(migrate, {
    workflowId,
    taskQueue,
    parentClosePolicy: ParentClosePolicy.ABANDON,
    args: [
      {
        prefix,
        runId,
        name,
        mode: 'run',
        unit,
        pagesPerSecond,
        startedBy,
        windowEndsAt,
      },
    ],
    memo: { run_id: runId, started_by: startedBy },
    staticSummary: `migration ${name}`,
  });
  return 'started';
}

function windowBegan(): number {
  const scheduled = workflowInfo().typedSearchAttributes.get(scheduledStart);
  return scheduled?.getTime() ?? Date.now();
}
