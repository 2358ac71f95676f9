import { proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { RemovedOrphans, SweepActivities } from '../../activities/documents/sweep-activities.js';
import { taskQueues } from '../../schemas/task-queues.js';
import { bulk } from '../activity-profiles.js';

/** Compares the stores file by file, hourly: removes chunks and bytes that no record knows. Writers go on. */
export async function reconcileDocuments(input: { prefix: string }): Promise<RemovedOrphans> {
  const { removeOrphans } = proxyActivities<SweepActivities>({
    ...bulk,
    taskQueue: taskQueues(input.prefix).documents,
  });
  setCurrentDetails('compares the stores and removes chunks and bytes of no record');
  const removed = await removeOrphans();
  const { chunks, blobs, chunks_kept: kept } = removed;
  setCurrentDetails(
    `${chunks} chunks and ${blobs} uploads of no record removed` +
      (kept === undefined ? '' : `; chunks were not looked at: ${kept}`),
  );
  return removed;
}
