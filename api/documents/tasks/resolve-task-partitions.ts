import type { Adapters } from '../../../activities/ports/adapters.js';
import { inScope } from '../../../schemas/documents/users.js';
import type { TaskHead } from '../../../schemas/documents/tasks.js';
import type { CallerContext } from '../../http/route.js';

/**
 * Tasks with the partition that each one's file is in now: a file may have been moved since its upload. A task whose
 * file went where its reader may not look keeps the name that it was uploaded under.
 */
export async function resolveTaskPartitions<Task extends TaskHead>(
  { files }: Pick<Adapters, 'files'>,
  { scope, principal }: Pick<CallerContext, 'scope' | 'principal'>,
  tasks: readonly Task[],
): Promise<Task[]> {
  if (tasks.length === 0) return [];
  const partitions = await files.partitionsOf(tasks.map(({ file_key }) => file_key));
  return tasks.map((task) => {
    const partition = partitions.get(task.file_key) ?? task.partition;
    return principal.isAdmin || inScope(scope, partition) ? { ...task, partition } : task;
  });
}
