import {
  ActivityFailure,
  ApplicationFailure,
  isCancellation,
  patched,
  proxyActivities,
  proxyLocalActivities,
} from '@temporalio/workflow';
import type { DocumentActivities } from '../../activities/documents/document-activities.js';
import type { DocumentRef } from '../../activities/documents/task-ref.js';
import type { EmbeddingActivities } from '../../activities/documents/embedding-activities.js';
import type { EnrichmentActivities } from '../../activities/documents/enrichment-activities.js';
import { taskQueues } from '../../schemas/task-queues.js';
import { atOnce, bulk, model } from '../activity-profiles.js';
import { notifyDispatcher } from './notify-dispatcher.js';
import { driveTask, enter } from './drive-task.js';
import type { TaskInput, TaskStatusView } from './drive-task.js';

/**
 * A document becomes searchable: parse → chunk → (what a model says of it) → embed and store → publish → clean up.
 * A small one goes through all of it in the first step, and a small text in the task of the plan itself; one of a
 * single batch is published by the step that embeds it. What fails on the way is left to the next step, which is
 * repeated for as long as that takes.
 *
 * The file record decides at every step; this plan only drives. Its id is derived from (file key, generation),
 * so starting it twice is harmless, and each activity may run again after a crash.
 */
export async function indexDocument(input: TaskInput): Promise<TaskStatusView> {
  const queues = taskQueues(input.prefix);
  const { parseDocument } = proxyActivities<DocumentActivities>({ ...bulk, taskQueue: queues.documents });
  const { embedDocument } = proxyActivities<EmbeddingActivities>({ ...model, taskQueue: queues.models });
  const { enrichDocument } = proxyActivities<EnrichmentActivities>({ ...model, taskQueue: queues.models });
  return driveTask(input, async (ref: DocumentRef, view) => {
    enter(view, 'parse');
    const early = input.small === true && patched('small-in-task') ? await parseInTask(ref) : null;
    const parsed = early ?? (await parseDocument(ref, { goOn: true }));
    view.chunks = parsed.chunkCount;
    // Absent in histories of before attachments could be files.
    if (parsed.attached === true) await notifyDispatcher(input);
    // Absent in histories of before a step went on by itself, and where it could not.
    const { stored, published: done } = parsed;
    if (stored === true) return { chunks: parsed.chunkCount, published: done };

    // Absent in histories of before there was enrichment, which so take the steps that they took.
    if (parsed.enrich === true) {
      enter(view, 'contextualize');
      const enriched = await enrichDocument(ref);
      // A described picture is a chunk; one of which nothing was said is none.
      view.chunks = enriched.chunkCount ?? parsed.chunkCount;
    }

    enter(view, 'embed');
    const { published } = await embedDocument(ref, { publish: true });
    return { chunks: view.chunks, published };
  });
}

const local = proxyLocalActivities<DocumentActivities>(atOnce);

/**
 * By the worker that has the plan's task, so that Temporal hears of the whole of it once. Null when it is to be tried
 * again, as a step of its own.
 */
async function parseInTask(
  ref: DocumentRef,
): Promise<Awaited<ReturnType<DocumentActivities['parseDocument']>> | null> {
  try {
    return await local.parseDocument(ref, { goOn: true });
  } catch (error) {
    if (isCancellation(error) || isFinal(error)) throw error;
    return null;
  }
}

function isFinal(error: unknown): boolean {
  // A local activity fails with its own error as a rule, and not with one around it.
  const cause = error instanceof ActivityFailure ? error.cause : error;
  return cause instanceof ApplicationFailure && cause.nonRetryable === true;
}
