import { isFinalState } from '../../schemas/documents/tasks.js';
import type { PartitionRecord } from '../../schemas/documents/partitions.js';
import type { FileTask } from '../ports/tasks.js';
import { finishPartitionDeletion } from './clean-up/finish-partition-deletion.js';
import type { FinishPartitionDeletionStores } from './clean-up/finish-partition-deletion.js';

export interface PartitionActivityDeps {
  adapters: FinishPartitionDeletionStores;
}

/** So many files at a time: what crosses to the plan stays small. */
const SHARE = 50;

/** Handed over, neither run to its own end nor cleaned up after: its workflow may be at work. */
function mayRun({ state, handed_over_at: handedOverAt, cleaned_at: cleanedAt }: FileTask): boolean {
  return handedOverAt !== null && cleanedAt === null && (!isFinalState(state) || state === 'CANCELLED');
}

/** Activities of the workflow that cleans up a deleted partition. */
export function createPartitionActivities({ adapters }: PartitionActivityDeps) {
  const finishDeletion = (deleted: Pick<PartitionRecord, 'partition' | 'partition_key'>): Promise<void> =>
    finishPartitionDeletion(adapters, deleted);

  /** Some of the files that are still to be cleared away, each with the generations that may be at work. */
  const listDeletedFiles = async (
    partitionKey: string,
  ): Promise<{ fileKey: string; running: number[] }[]> => {
    const tombstones = await adapters.files.listPartitionTombstones(partitionKey, SHARE);
    const listed: { fileKey: string; running: number[] }[] = [];
    // One after another: a file can have tens of thousands of tasks.
    for (const { file_key: fileKey } of tombstones) {
      const tasks = await adapters.tasks.listByFile(fileKey);
      listed.push({ fileKey, running: tasks.filter(mayRun).map(({ generation }) => generation) });
    }
    return listed;
  };

  return { finishDeletion, deletedFiles: listDeletedFiles };
}

export type PartitionActivities = ReturnType<typeof createPartitionActivities>;
