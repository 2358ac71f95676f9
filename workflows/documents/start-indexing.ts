import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { ParentClosePolicy, startChild } from '@temporalio/workflow';
import type { TaskToStart } from '../../activities/documents/task-ref.js';
import { indexWorkflowId } from '../../schemas/ids.js';
import { copyDocument } from './copy-document.js';
import { indexDocument } from './index-document.js';

/** Starts the plan of a task, which goes on whatever becomes of its starter. One that runs already is as good. */
export async function startIndexing(
  { partition, fileId, ...ref }: TaskToStart,
  settings: { prefix: string; timeoutMs: number },
): Promise<void> {
  try {
    await startChild(ref.copy === true ? copyDocument : indexDocument, {
      workflowId: indexWorkflowId(settings.prefix, ref.fileKey, ref.generation),
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      parentClosePolicy: ParentClosePolicy.ABANDON,
      args: [{ ...ref, prefix: settings.prefix, timeoutMs: settings.timeoutMs }],
      // As the gateway starts it (`api/temporal.ts`). A worker of an earlier release does not tell the names.
      ...(partition === undefined || fileId === undefined
        ? { staticSummary: `file ${ref.fileKey}` }
        : {
            memo: { task_id: ref.taskId, partition, file_id: fileId },
            staticSummary: `${fileId} in ${partition}`,
          }),
    });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}
