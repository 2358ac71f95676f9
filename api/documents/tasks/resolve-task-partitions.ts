import type { Adapters } from '../../../activities/ports/adapters.js';
import { inScope } from '../../../schemas/documents/users.js';
import type { Scope } from '../../../schemas/documents/users.js';
import type { TaskHead, TaskRecord } from '../../../schemas/documents/tasks.js';
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

/**
 * The same for one task that is looked at again and again: its file is read when the task has changed, and when the
 * caller was asked for anew.
 */
export function followTaskPartition(adapters: Pick<Adapters, 'files'>) {
  let last: { scope: Scope; task: TaskRecord; placed: TaskRecord } | null = null;
  return async (caller: CallerContext, task: TaskRecord): Promise<TaskRecord> => {
    if (last?.scope === caller.scope && last.task === task) return last.placed;
    const [placed = task] = await resolveTaskPartitions(adapters, caller, [task]);
    last = { scope: caller.scope, task, placed };
    return placed;
  };
}
