import { AppError } from '../../../schemas/app-error.js';
import type { TaskRecord } from '../../../schemas/documents/tasks.js';
import { isFinalState } from '../../../schemas/documents/tasks.js';
import { endTask } from './end-task.js';
import type { EndTaskDeps } from './end-task.js';
import { fileOf } from './file-of.js';

function notCancellable(task: TaskRecord, state: string): AppError {
  return new AppError(
    'TASK_NOT_CANCELLABLE',
    `Task ${task.task_id} is already ${state} and cannot be cancelled`,
    {
      plain: true,
    },
  );
}

/**
 * Stops a task. The file record lets go of it first, so that it can no longer publish; a task that published
 * before that is as good as COMPLETED, whatever its own record says yet.
 * @throws AppError TASK_NOT_CANCELLABLE (409), plain
 */
export async function cancelTask(deps: EndTaskDeps, task: TaskRecord): Promise<void> {
  if (isFinalState(task.state)) throw notCancellable(task, task.state.toLowerCase());
  const released = await deps.files.releasePending(task.file_key, task.task_id);
  if (!released) {
    const file = await fileOf(deps.files, task.file_key);
    if (file?.live?.task_id === task.task_id) throw notCancellable(task, 'completed');
  }
  const { ended, told } = await endTask(deps, task.task_id, 'TASK_CANCELLED');
  await told;
  if (ended) return;
  const now = await deps.tasks.get(task.task_id);
  throw notCancellable(task, (now?.state ?? 'COMPLETED').toLowerCase());
}
