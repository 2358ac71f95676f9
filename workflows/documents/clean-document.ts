import { proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { DocumentActivities } from '../../activities/documents/document-activities.js';
import { taskQueues } from '../../schemas/task-queues.js';
import { bulk } from '../activity-profiles.js';

export interface CleanDocumentInput {
  prefix: string;
  fileKey: string;
}

/**
 * Removes what a file no longer needs: replaced generations, leftovers of ended tasks, or everything once it is
 * deleted. What to keep is read from the file record each time, so running it late, twice or for nothing is harmless.
 */
export async function cleanDocument(input: CleanDocumentInput): Promise<void> {
  const { cleanFile } = proxyActivities<DocumentActivities>({
    ...bulk,
    taskQueue: taskQueues(input.prefix).documents,
  });
  setCurrentDetails('removes what the file needs no more');
  await cleanFile(input.fileKey);
}
