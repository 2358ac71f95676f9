import { AppError } from '../../schemas/app-error.js';
import type { PartitionRecord } from '../../schemas/documents/partitions.js';
import type { TaskRecord } from '../../schemas/documents/tasks.js';

/**
 * The embedder to work with for a task: the partition's, where a swap has put it in the place of the task's own, which
 * may be deleted by then. Vectors that an attempt before the switch made are completed when the version is published.
 * @throws AppError EMBEDDER_CHANGED_DURING_INDEXING when it was changed otherwise
 */
export function embedderOf(task: TaskRecord, partition: PartitionRecord | null): string {
  if (partition === null || partition.embedder === task.embedder) return task.embedder;
  if (partition.swapped_from.includes(task.embedder)) return partition.embedder;
  throw new AppError('EMBEDDER_CHANGED_DURING_INDEXING');
}
