import {
  CancellationScope,
  ParentClosePolicy,
  defineQuery,
  isCancellation,
  proxyActivities,
  setHandler,
  startChild,
} from '@temporalio/workflow';
import type { DocumentActivities, DocumentRef } from '../activities/document-activities.js';
import type { EmbeddingActivities } from '../activities/embedding-activities.js';
import type { Stage, TaskState } from '../schemas/documents.js';
import { cleanWorkflowId } from '../schemas/ids.js';
import { taskQueues } from '../schemas/task-queues.js';
import { bulk, model, quick } from './activity-profiles.js';
import { cleanDocument } from './clean-document.js';
import { failureOf, rethrown } from './failure-of.js';

export interface IndexDocumentInput extends DocumentRef {
  /** In front of task queues and workflow ids of this installation. */
  prefix: string;
  /** The promise to the user: after so long the task ends FAILED with TASK_EXPIRED. */
  timeoutMs: number;
}

export interface TaskStatusView {
  task_id: string;
  task_state: TaskState;
  stage: Stage;
  chunks: number | null;
  error: { code: string; message: string } | null;
}

/** What an operator asks in the Temporal UI: the content that the API mirrors in the task record. */
const taskStatus = defineQuery<TaskStatusView>('taskStatus');

/**
 * A document becomes searchable: parse → chunk → embed and store → publish → clean up.
 *
 * The file record decides at every step; this plan only drives. Its id is derived from (file key, generation),
 * so starting it twice is harmless, and each activity may run again after a crash.
 */
export async function indexDocument(input: IndexDocumentInput): Promise<TaskStatusView> {
  const queues = taskQueues(input.prefix);
  // Publishing and cleaning touch every chunk: minutes for a text of hundreds of megabytes.
  const { parseDocument, publishDocument, cleanFile } = proxyActivities<DocumentActivities>({
    ...bulk,
    taskQueue: queues.documents,
  });
  const { embedDocument } = proxyActivities<EmbeddingActivities>({ ...model, taskQueue: queues.models });
  const { endTask } = proxyActivities<DocumentActivities>({ ...quick, taskQueue: queues.documents });
  const ref: DocumentRef = { taskId: input.taskId, fileKey: input.fileKey, generation: input.generation };
  const view: TaskStatusView = {
    task_id: input.taskId,
    task_state: 'QUEUED',
    stage: 'queued',
    chunks: null,
    error: null,
  };
  setHandler(taskStatus, () => view);

  const work = new CancellationScope({ cancellable: true, timeout: input.timeoutMs });
  try {
    await work.run(async () => {
      view.task_state = 'SERIALIZING';
      view.stage = 'parse';
      view.chunks = (await parseDocument(ref)).chunkCount;

      view.stage = 'embed';
      await embedDocument(ref);

      view.stage = 'publish';
      const { replaced } = await publishDocument(ref, view.chunks);
      if (replaced) await startCleaning(input);
      view.task_state = 'COMPLETED';
      view.stage = 'done';
    });
    return view;
  } catch (error) {
    // The user's cancel arrives from outside; only the scope's own timer cancels it from inside.
    const expired = isCancellation(error) && !CancellationScope.current().consideredCancelled;
    const failure = expired ? failureOf('TASK_EXPIRED') : failureOf(error);
    await CancellationScope.nonCancellable(async () => {
      view.task_state = await endTask(ref, failure);
      await cleanFile(input.fileKey);
    });
    view.error = { code: failure.code, message: failure.message };
    throw rethrown(error, failure);
  }
}

/** Old generations go in a small workflow of their own: the new version is live already, nobody waits for it. */
async function startCleaning(input: IndexDocumentInput): Promise<void> {
  await startChild(cleanDocument, {
    workflowId: cleanWorkflowId(input.prefix, input.fileKey, input.generation),
    parentClosePolicy: ParentClosePolicy.ABANDON,
    args: [{ prefix: input.prefix, fileKey: input.fileKey }],
  });
}
