import { isFinalState } from '../../schemas/documents/tasks.js';
import type { PartitionRecord } from '../../schemas/documents/partitions.js';
import type { TaskRecord } from '../../schemas/documents/tasks.js';
import { finishPartitionDeletion } from './clean-up/finish-partition-deletion.js';
import type { FinishPartitionDeletionStores } from './clean-up/finish-partition-deletion.js';

export interface PartitionActivityDeps {
  adapters: FinishPartitionDeletionStores;
}

/** So many files at a time: what crosses to the plan stays small. */
const SHARE = 50;

/** Handed over, and not run to its own end: its workflow may be at work. */
function mayRun(task: TaskRecord): boolean {
  return task.handed_over_at !== null && (!isFinalState(task.state) || task.state === 'CANCELLED');
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
    return Promise.all(
      tombstones.map(async ({ file_key: fileKey }) => {
        const tasks = await adapters.tasks.listByFile(fileKey);
        return { fileKey, running: tasks.filter(mayRun).map(({ generation }) => generation) };
      }),
    );
  };

  return { finishDeletion, deletedFiles: listDeletedFiles };
}

export type PartitionActivities = ReturnType<typeof createPartitionActivities>;
