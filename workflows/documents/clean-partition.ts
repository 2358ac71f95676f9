import {
  CancellationScope,
  continueAsNew,
  getExternalWorkflowHandle,
  proxyActivities,
  setCurrentDetails,
  workflowInfo,
} from '@temporalio/workflow';
import type { DocumentActivities } from '../../activities/documents/document-activities.js';
import type { PartitionActivities } from '../../activities/documents/partition-activities.js';
import { indexWorkflowId } from '../../schemas/ids.js';
import { taskQueues } from '../../schemas/task-queues.js';
import { bulk, quick } from '../activity-profiles.js';

export interface CleanPartitionInput {
  prefix: string;
  partition: string;
  partitionKey: string;
}

/**
 * Removes what a deleted partition had: first its running tasks are stopped, then each file's chunks, bytes and
 * records go. The partition has been invisible since before this was started, and its name may be in use again:
 * everything here goes by key.
 */
export async function cleanPartition(input: CleanPartitionInput): Promise<void> {
  const taskQueue = taskQueues(input.prefix).documents;
  const { finishDeletion, deletedFiles } = proxyActivities<PartitionActivities>({ ...quick, taskQueue });
  const { cleanFile } = proxyActivities<DocumentActivities>({ ...bulk, taskQueue });

  let removed = 0;
  const describe = (): void => {
    setCurrentDetails(`${removed} files of ${input.partition} removed in this run`);
  };
  describe();
  await finishDeletion({ partition: input.partition, partition_key: input.partitionKey });
  for (;;) {
    const files = await deletedFiles(input.partitionKey);
    if (files.length === 0) return;
    for (const { fileKey, running } of files)
      for (const generation of running) await stop(indexWorkflowId(input.prefix, fileKey, generation));
    for (const { fileKey } of files) await cleanFile(fileKey);
    removed += files.length;
    describe();
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof cleanPartition>(input);
  }
}

/** A task whose workflow has ended, or never began, needs no stopping. */
async function stop(workflowId: string): Promise<void> {
  try {
    await getExternalWorkflowHandle(workflowId).cancel();
  } catch (error) {
    if (CancellationScope.current().consideredCancelled) throw error;
  }
}
