import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { ParentClosePolicy, proxyActivities, startChild } from '@temporalio/workflow';
import type { SweepActivities } from '../activities/sweep-activities.js';
import type { DocumentActivities } from '../activities/document-activities.js';
import { indexWorkflowId } from '../schemas/ids.js';
import { taskQueues } from '../schemas/task-queues.js';
import { bulk, quick } from './activity-profiles.js';
import { indexDocument } from './index-document.js';

export interface SweepDocumentsInput {
  prefix: string;
  timeoutMs: number;
}

export interface SweepResult {
  started: number;
  cleaned: number;
}

/**
 * The net under the gateway: starts what was admitted while Temporal was away, ends what nothing drives any more
 * and cleans up what a crash left. Each run takes a bounded share; the schedule brings the next.
 */
export async function sweepDocuments(input: SweepDocumentsInput): Promise<SweepResult> {
  const taskQueue = taskQueues(input.prefix).documents;
  const { findUnstarted, markHandedOver, endExpired, findDirtyFiles } = proxyActivities<SweepActivities>({
    ...quick,
    taskQueue,
  });
  const { cleanFile } = proxyActivities<DocumentActivities>({ ...bulk, taskQueue });

  const unstarted = await findUnstarted();
  for (const ref of unstarted) {
    try {
      await startChild(indexDocument, {
        workflowId: indexWorkflowId(input.prefix, ref.fileKey, ref.generation),
        workflowIdReusePolicy: 'REJECT_DUPLICATE',
        parentClosePolicy: ParentClosePolicy.ABANDON,
        args: [{ ...ref, prefix: input.prefix, timeoutMs: input.timeoutMs }],
      });
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    }
  }
  if (unstarted.length > 0) await markHandedOver(unstarted.map((ref) => ref.taskId));

  await endExpired();
  const dirty = await findDirtyFiles();
  for (const fileKey of dirty) await cleanFile(fileKey);
  return { started: unstarted.length, cleaned: dirty.length };
}
