import { ApiError } from '../../../api/api-error';
import { api } from '../../../api/client';

/**
 * Stops the work at a file that was uploaded. Answers false where there is nothing to stop: it has ended, or is gone.
 * @throws ApiError
 */
export async function cancelTask(taskId: string): Promise<boolean> {
  try {
    await api.DELETE('/indexer/task/{task_id}', { params: { path: { task_id: taskId } } });
    return true;
  } catch (error) {
    if (error instanceof ApiError && (error.status === 404 || error.status === 409)) return false;
    throw error;
  }
}
