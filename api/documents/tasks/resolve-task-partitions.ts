import type { Adapters } from '../../../activities/ports/adapters.js';
import { inScope } from '../../../schemas/documents/users.js';
import type { TaskRecord } from '../../../schemas/documents/tasks.js';
import type { CallerContext } from '../../http/route.js';

/**
 * Tasks with the partition that each one's file is in now: a file may have been moved since its upload. A task whose
 * file went where its reader may not look keeps the name that it was uploaded under.
 */
export async function resolveTaskPartitions(
  { files }: Pick<Adapters, 'files'>,
  { scope, principal }: Pick<CallerContext, 'scope' | 'principal'>,
  tasks: readonly TaskRecord[],
): Promise<TaskRecord[]> {
  if (tasks.length === 0) return [];
  const records = await files.getMany([...new Set(tasks.map(({ file_key }) => file_key))]);
  return tasks.map((task) => {
    const { partition } = records.get(task.file_key) ?? task;
    return principal.isAdmin || inScope(scope, partition) ? { ...task, partition } : task;
  });
}
