import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { getExternalWorkflowHandle, ParentClosePolicy, startChild } from '@temporalio/workflow';
import { dispatchWorkflowId } from '../../schemas/ids.js';
import { taskQueues } from '../../schemas/task-queues.js';

/**
 * Tells the dispatcher of tasks that a plan has admitted, as the gateway does for uploads. It is named, not imported,
 * since what it starts is what calls this. Where it ends in the same moment, the sweep finds the tasks within half a
 * minute.
 */
export async function notifyDispatcher({
  prefix,
  timeoutMs,
}: {
  prefix: string;
  timeoutMs: number;
}): Promise<void> {
  const workflowId = dispatchWorkflowId(prefix);
  try {
    await startChild('dispatchDocuments', {
      workflowId,
      // Imports run on a queue of their own.
      taskQueue: taskQueues(prefix).documents,
      parentClosePolicy: ParentClosePolicy.ABANDON,
      args: [{ prefix, timeoutMs }],
      staticSummary: 'turns of the uploads that wait',
    });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    await getExternalWorkflowHandle(workflowId)
      .signal('queued')
      .catch(() => undefined);
  }
}
