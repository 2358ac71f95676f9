import { proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { SweepActivities } from '../../activities/documents/sweep-activities.js';
import { taskQueues } from '../../schemas/task-queues.js';
import { bulk } from '../activity-profiles.js';

/** Compares the stores file by file, hourly: removes chunks and bytes that no record knows. Writers go on. */
export async function reconcileDocuments(input: {
  prefix: string;
}): Promise<{ chunks: number; blobs: number }> {
  const { removeOrphans } = proxyActivities<SweepActivities>({
    ...bulk,
    taskQueue: taskQueues(input.prefix).documents,
  });
  setCurrentDetails('compares the stores and removes chunks and bytes of no record');
  const { chunks, blobs } = await removeOrphans();
  setCurrentDetails(`${chunks} chunks and ${blobs} uploads of no record removed`);
  return { chunks, blobs };
}
