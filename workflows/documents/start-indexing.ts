import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { ParentClosePolicy, startChild } from '@temporalio/workflow';
import type { DocumentRef } from '../../activities/documents/task-ref.js';
import { indexWorkflowId } from '../../schemas/ids.js';
import { copyDocument } from './copy-document.js';
import { indexDocument } from './index-document.js';

/** Starts the plan of a task, which goes on whatever becomes of its starter. One that runs already is as good. */
export async function startIndexing(
  ref: DocumentRef,
  settings: { prefix: string; timeoutMs: number },
): Promise<void> {
  try {
    await startChild(ref.copy === true ? copyDocument : indexDocument, {
      workflowId: indexWorkflowId(settings.prefix, ref.fileKey, ref.generation),
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      parentClosePolicy: ParentClosePolicy.ABANDON,
      args: [{ ...ref, prefix: settings.prefix, timeoutMs: settings.timeoutMs }],
      // The name of the file is in the record: plans know keys alone.
      staticSummary: `file ${ref.fileKey}`,
    });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}
