import { patched, proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { CallbackActivities } from '../../activities/documents/callback-activities.js';
import type { SweepActivities } from '../../activities/documents/sweep-activities.js';
import type { DocumentActivities } from '../../activities/documents/document-activities.js';
import { taskQueues } from '../../schemas/task-queues.js';
import { bulk, quick } from '../activity-profiles.js';
import { startCallback } from './start-callback.js';
import { startIndexing } from './start-indexing.js';

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
 * and cleans up what a crash left. Each takes a bounded share; the next turn of `upkeepDocuments` takes more.
 */
export async function sweepDocuments(input: SweepDocumentsInput): Promise<SweepResult> {
  const taskQueue = taskQueues(input.prefix).documents;
  const { findUnstarted, markHandedOver, endExpired, findDirtyFiles } = proxyActivities<SweepActivities>({
    ...quick,
    taskQueue,
  });
  const { cleanFile } = proxyActivities<DocumentActivities>({ ...bulk, taskQueue });

  setCurrentDetails('looks for uploads that no plan drives, and for what a crash left');
  const unstarted = await findUnstarted();
  for (const ref of unstarted) await startIndexing(ref, input);
  if (unstarted.length > 0) await markHandedOver(unstarted.map((ref) => ref.taskId));

  await endExpired();
  if (patched('callbacks')) await tellUntold(input);
  const dirty = await findDirtyFiles();
  for (const fileKey of dirty) await cleanFile(fileKey);
  return { started: unstarted.length, cleaned: dirty.length };
}

/** Tasks that ended without their workflow, as expired ones do: their callbacks were not sent. */
async function tellUntold({ prefix }: SweepDocumentsInput): Promise<void> {
  const { findUntoldCallbacks } = proxyActivities<CallbackActivities>({
    ...quick,
    taskQueue: taskQueues(prefix).documents,
  });
  for (const taskId of await findUntoldCallbacks()) await startCallback(prefix, taskId);
}
