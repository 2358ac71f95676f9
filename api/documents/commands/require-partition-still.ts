import { AppError } from '../../../schemas/app-error.js';
import type { Adapters } from '../../../activities/ports/adapters.js';
import { deleteFile } from './delete-file.js';
import type { EndTaskDeps } from './end-task.js';

/**
 * Asked after a file was put into a partition: one that was deleted in this moment took the files that it had then,
 * and this one must go the same way. What cannot be found out now is no refusal, since the file is there: its
 * publication asks again, and so does the reconciler.
 * @throws AppError PARTITION_NOT_FOUND (404), plain
 */
export async function requirePartitionStill(
  deps: EndTaskDeps & Pick<Adapters, 'partitions'>,
  input: { partition: string; partitionKey: string; fileId: string; fileKey: string },
): Promise<void> {
  const { partition, partitionKey } = input;
  const found = await deps.partitions.get(partition).catch((error: unknown) => {
    deps.log.warn({ err: error, partition }, 'whether the partition of a file still exists is unknown');
    return { partition_key: partitionKey };
  });
  if (found?.partition_key === partitionKey) return;
  await deleteFile(deps, input).catch((error: unknown) => {
    if (!(error instanceof AppError) || error.code !== 'FILE_NOT_FOUND') throw error;
  });
  throw new AppError('PARTITION_NOT_FOUND', `Partition '${partition}' not found`, { plain: true });
}
