import type { PartitionRecord } from '../../schemas/documents/partitions.js';
import type { TaskRecord } from '../../schemas/documents/tasks.js';
import type { Adapters } from '../ports/adapters.js';
import { fileOf } from './commands/file-of.js';

/**
 * The partition by whose settings a task's file is read: the one that the file is in now. The task names the one that
 * it was admitted in; the file may have been moved since, and another partition may have that name by now.
 * @returns null when the file or its partition is gone
 */
export async function placeOf(
  { files, partitions }: Pick<Adapters, 'files' | 'partitions'>,
  { file_key: fileKey }: Pick<TaskRecord, 'file_key'>,
): Promise<PartitionRecord | null> {
  const file = await fileOf(files, fileKey, { reports: false });
  if (file === undefined || file.deleted_at !== null) return null;
  const partition = await partitions.get(file.partition);
  return partition?.partition_key === file.partition_key ? partition : null;
}
