import type { PartitionStore } from '../../../activities/ports/partitions.js';
import { AppError } from '../../../schemas/app-error.js';

/** What evaluation keeps belongs to the partition of this moment, and to no later one of its name. */
export async function requirePartitionKey(
  partitions: Pick<PartitionStore, 'get'>,
  name: string,
): Promise<string> {
  const partition = await partitions.get(name);
  if (partition === null) throw new AppError('PARTITION_NOT_FOUND', undefined, { plain: true });
  return partition.partition_key;
}
