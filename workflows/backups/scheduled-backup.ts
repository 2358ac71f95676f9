import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { ParentClosePolicy, setCurrentDetails, startChild } from '@temporalio/workflow';
import { backupWorkflowId } from '../../schemas/ids.js';
import { taskQueues } from '../../schemas/task-queues.js';
import { runBackup } from './run-backup.js';

/** Started by a schedule. One run at a time: a backup or a restore that is at work is not disturbed. */
export async function scheduledBackup(input: {
  prefix: string;
  vectors: boolean;
}): Promise<'started' | 'running already'> {
  const { prefix, vectors } = input;
  setCurrentDetails('starts a backup, unless one or a restore is at work');
  try {
    await startChild(runBackup, {
      workflowId: backupWorkflowId(prefix),
      taskQueue: taskQueues(prefix).migrations,
      parentClosePolicy: ParentClosePolicy.ABANDON,
      args: [{ prefix, kind: 'backup', vectors, startedBy: 'schedule' }],
      staticSummary: 'backup',
    });
    return 'started';
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return 'running already';
    throw error;
  }
}
