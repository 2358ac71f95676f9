import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import {
  CancellationScope,
  ParentClosePolicy,
  defineQuery,
  isCancellation,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  startChild,
} from '@temporalio/workflow';
import type { DocumentActivities } from '../../activities/documents/document-activities.js';
import type { DocumentRef } from '../../activities/documents/task-ref.js';
import type { Published } from '../../activities/documents/publish-version.js';
import type { Stage, TaskState } from '../../schemas/documents/tasks.js';
import { cleanWorkflowId } from '../../schemas/ids.js';
import { taskQueues } from '../../schemas/task-queues.js';
import { bulk, quick } from '../activity-profiles.js';
import { cleanDocument } from './clean-document.js';
import { failureOf, rethrown } from './failure-of.js';
import { startCallback } from './start-callback.js';

export interface TaskInput extends DocumentRef {
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

interface MadeChunks {
  chunks: number;
  published?: Published | undefined;
}

/** What an operator asks in the Temporal UI: the content that the API mirrors in the task record. */
const taskStatus = defineQuery<TaskStatusView>('taskStatus');

/**
 * What every task of a document has in common: its chunks are made, published, what they replace is cleaned up, and
 * the callback is sent; however it fails, the record says so and nothing is left over.
 * @param makeChunks writes the chunks of the new version and answers how many they are, and what came of publishing
 *   where it did that too
 */
export async function driveTask(
  input: TaskInput,
  makeChunks: (ref: DocumentRef, view: TaskStatusView) => Promise<MadeChunks>,
): Promise<TaskStatusView> {
  const taskQueue = taskQueues(input.prefix).documents;
  // Publishing and cleaning touch every chunk: minutes for a text of hundreds of megabytes.
  const { publishDocument, cleanFile } = proxyActivities<DocumentActivities>({ ...bulk, taskQueue });
  const { endTask } = proxyActivities<DocumentActivities>({ ...quick, taskQueue });
  const ref: DocumentRef = { taskId: input.taskId, fileKey: input.fileKey, generation: input.generation };
  const view: TaskStatusView = {
    task_id: input.taskId,
    task_state: 'QUEUED',
    stage: 'queued',
    chunks: null,
    error: null,
  };
  setHandler(taskStatus, () => view);
  enter(view, 'queued');

  const work = new CancellationScope({ cancellable: true, timeout: input.timeoutMs });
  try {
    await work.run(async () => {
      view.task_state = 'SERIALIZING';
      const made = await makeChunks(ref, view);
      view.chunks = made.chunks;

      enter(view, 'publish');
      const { replaced } = made.published ?? (await publishDocument(ref, made.chunks));
      if (replaced) await startCleaning(input);
      view.task_state = 'COMPLETED';
      enter(view, 'done');
    });
    await tellOutside(input);
    return view;
  } catch (error) {
    // The user's cancel arrives from outside; only the scope's own timer cancels it from inside.
    const expired = isCancellation(error) && !CancellationScope.current().consideredCancelled;
    const failure = expired ? failureOf('TASK_EXPIRED') : failureOf(error);
    await CancellationScope.nonCancellable(async () => {
      view.task_state = await endTask(ref, failure);
      // Completed: published, and cancelled in the moment after.
      if (view.task_state !== 'CANCELLED') await tellOutside(input);
      await cleanFile(input.fileKey);
    });
    view.error = { code: failure.code, message: failure.message };
    setCurrentDetails(`${view.task_state.toLowerCase()}: ${failure.message}`);
    throw rethrown(error, failure);
  }
}

const WORDS: Record<Stage, string> = {
  queued: 'begins',
  parse: 'reads the file',
  chunk: 'cuts the text into chunks',
  caption: 'has its pictures described',
  contextualize: 'has a model say what each chunk is about',
  topic_tag: 'has a model name its topics',
  embed: 'makes vectors of the chunks and stores them',
  store: 'copies the chunks',
  publish: 'makes the new version visible',
  done: 'searchable',
};

/** What a task does now, for its query and for Temporal's UI. */
export function enter(view: TaskStatusView, stage: Stage): void {
  view.stage = stage;
  setCurrentDetails(view.chunks === null ? WORDS[stage] : `${WORDS[stage]} (${view.chunks} chunks)`);
}

/**
 * Old generations are removed in a workflow of their own: the new version is live already. A clean-up that runs already
 * is as good.
 */
async function startCleaning(input: TaskInput): Promise<void> {
  try {
    await startChild(cleanDocument, {
      workflowId: cleanWorkflowId(input.prefix, input.fileKey, input.generation),
      parentClosePolicy: ParentClosePolicy.ABANDON,
      args: [{ prefix: input.prefix, fileKey: input.fileKey }],
      staticSummary: `clean-up of file ${input.fileKey}`,
    });
  } catch (error) {
    // The file was deleted in this moment, and the clean-up that the deletion began is of the same generation.
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}

/** The delivery may take hours: it goes on by itself. */
async function tellOutside(input: TaskInput): Promise<void> {
  if (input.callback !== true) return;
  await startCallback(input.prefix, input.taskId);
}
