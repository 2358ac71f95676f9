import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { ParentClosePolicy, startChild } from '@temporalio/workflow';
import { callbackWorkflowId } from '../../schemas/ids.js';
import { deliverCallback } from './deliver-callback.js';

/** Starts the delivery of a task's callback, which goes on by itself. One that runs already is as good. */
export async function startCallback(prefix: string, taskId: string): Promise<void> {
  try {
    await startChild(deliverCallback, {
      workflowId: callbackWorkflowId(prefix, taskId),
      parentClosePolicy: ParentClosePolicy.ABANDON,
      args: [{ prefix, taskId }],
      staticSummary: `callback of task ${taskId}`,
    });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}
