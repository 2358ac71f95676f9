import type { TaskRecord } from '../../../schemas/documents/tasks.js';
import type { Adapters } from '../../ports/adapters.js';
import type { IndexingPlans } from '../../ports/tasks.js';
import { taskToStart } from '../task-ref.js';
import type { TaskToStart } from '../task-ref.js';
import { endTaskRecord } from './end-task-record.js';
import { fileOf } from '../commands/file-of.js';
import { taskFailure } from '../../../schemas/documents/tasks.js';

/** Each is a question to Temporal. */
const SHARE = 50;

export interface AbandonedDeps {
  adapters: Pick<Adapters, 'files' | 'tasks' | 'quotas' | 'claims'>;
  plans: IndexingPlans;
}

/**
 * Looks for tasks that were handed over and that no workflow drives: Temporal lost its state, or the workflow was ended
 * there. Each call looks at the next share of them, and begins anew behind the last.
 */
export function createAbandonedSearch({ adapters, plans }: AbandonedDeps) {
  const { tasks, files } = adapters;
  let from = new Date(0);

  const nextShare = async (before: Date): Promise<TaskRecord[]> => {
    const share = await tasks.listActiveSince(before, SHARE, from);
    const last = share.length < SHARE ? 0 : (share.at(-1)?.handed_over_at?.getTime() ?? 0);
    // Those of one moment stand on both sides of a border, so the next share has them again; and it must go on.
    from = new Date(last === from.getTime() && last > 0 ? last + 1 : last);
    return share;
  };

  /** Whether its workflow shall be started anew; one that was ended, or has nothing to do any more, ends here. */
  const isToStart = async (task: TaskRecord): Promise<boolean> => {
    const { task_id: taskId, file_key: fileKey, generation } = task;
    const state = await plans.stateOf(task);
    if (state === 'open') return false;
    const file = await fileOf(files, fileKey);
    if (state === 'unknown' && file?.pending_task === taskId) return true;
    const failure = taskFailure('TASK_EXPIRED', 'Its workflow was ended in Temporal.');
    await endTaskRecord(adapters, { taskId, fileKey, generation }, 'FAILED', failure);
    return false;
  };

  /**
   * The tasks to start anew.
   * @param before only those that were handed over earlier: the answer to a start may be under way
   */
  return async function findAbandoned(before: Date): Promise<TaskToStart[]> {
    const found: TaskToStart[] = [];
    for (const task of await nextShare(before)) if (await isToStart(task)) found.push(taskToStart(task));
    return found;
  };
}
