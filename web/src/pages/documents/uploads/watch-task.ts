import { ApiError } from '../../../api/api-error';
import { api, bodyOf } from '../../../api/client';
import type { TaskStatus } from '../queries';

const LOOK_EVERY_MS = 2_000;

/** Null where the server does not say it just now, as while it restarts. */
async function readTask(taskId: string): Promise<TaskStatus | null> {
  try {
    return await bodyOf(api.GET('/indexer/task/{task_id}', { params: { path: { task_id: taskId } } }));
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) throw error;
    return null;
  }
}

/**
 * Tells the status of a task now and then until it is final. No event stream: it would hold one of the six connections
 * that a browser opens to one server for all windows together, and a few windows would stop the whole console.
 * @throws ApiError when there is no such task any more
 */
export async function watchTask(taskId: string, onStatus: (status: TaskStatus) => void): Promise<void> {
  for (;;) {
    const status = await readTask(taskId);
    if (status !== null) {
      onStatus(status);
      if (['COMPLETED', 'FAILED', 'CANCELLED'].includes(status.task_state)) return;
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}
