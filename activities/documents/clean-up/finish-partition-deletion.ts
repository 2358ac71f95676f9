import type { PartitionRecord } from '../../../schemas/documents/partitions.js';
import type { Adapters } from '../../ports/adapters.js';
import { EVERYTHING } from '../../../schemas/documents/users.js';
import { taskFailure } from '../../../schemas/documents/tasks.js';

const PAGE = 1000;

export type FinishPartitionDeletionStores = Pick<
  Adapters,
  | 'partitions'
  | 'files'
  | 'tasks'
  | 'quotas'
  | 'claims'
  | 'workspaces'
  | 'questionSets'
  | 'evaluationRuns'
  | 'feedback'
>;

/**
 * The second half of a partition's deletion: its files become tombstones, its running tasks read CANCELLED, its bytes
 * may be uploaded again, its workspaces go, and the name is free. By key and never by name, so that running it late
 * touches nothing of a partition that was created under the name since.
 */
export async function finishPartitionDeletion(
  { partitions, files, tasks, quotas, claims, workspaces, ...evaluation }: FinishPartitionDeletionStores,
  deleted: Pick<PartitionRecord, 'partition' | 'partition_key'>,
): Promise<void> {
  // Listed first: a tombstone waits for no task. What is missed by a crash in between ends with its file's clean-up.
  const pending = (await files.listPending(deleted.partition_key)).map(({ taskId }) => taskId);
  await files.markPartitionDeleted(deleted.partition_key);
  await tasks.cancelMany(pending, taskFailure('TASK_CANCELLED', 'The partition was deleted.'));
  await quotas.release(pending);
  // Keys alone, and some at a time: a partition may have had a million files.
  let keys: string[] = [];
  for await (const fileKey of files.scanPartitionTombstones(deleted.partition_key)) {
    keys.push(fileKey);
    if (keys.length < PAGE) continue;
    await claims.releaseFiles(keys);
    keys = [];
  }
  if (keys.length > 0) await claims.releaseFiles(keys);
  const { questionSets, evaluationRuns, feedback } = evaluation;
  for (const store of [questionSets, evaluationRuns, feedback]) await store.removeAll(deleted.partition_key);
  // Listed first: a mark that stands after that says that the name was not free, so these are no newer partition's.
  const theirs = await workspaces.list(EVERYTHING, deleted.partition);
  const marked = await partitions.listDeleted();
  if (!marked.some(({ partition_key }) => partition_key === deleted.partition_key)) return;
  await workspaces.removeMany(theirs.map(({ workspace_key }) => workspace_key));
  await partitions.removeDeleted(deleted);
}
