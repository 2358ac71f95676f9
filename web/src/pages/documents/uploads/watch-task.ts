import { ApiError } from '../../../api/api-error';
import { api, bodyOf } from '../../../api/client';
import type { TaskStatus } from '../queries';

const AGAIN_MS = 3_000;

function readTask(taskId: string): Promise<TaskStatus> {
  return bodyOf(api.GET('/indexer/task/{task_id}', { params: { path: { task_id: taskId } } }));
}

/**
 * Tells each change of a task until it is final. A stream that the server refused, as while it restarts, is opened
 * anew; one that broke off the browser opens itself.
 * @throws ApiError when there is no such task any more
 */
export function watchTask(taskId: string, onStatus: (status: TaskStatus) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const isTold = (status: TaskStatus): boolean => {
      onStatus(status);
      return ['COMPLETED', 'FAILED', 'CANCELLED'].includes(status.task_state);
    };
    // A stream does not say why it was refused.
    const look = async () => {
      try {
        if (isTold(await readTask(taskId))) return resolve();
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) return reject(error);
      }
      setTimeout(open, AGAIN_MS);
    };
    const open = () => {
      const events = new EventSource(`/indexer/task/${encodeURIComponent(taskId)}/events`);
      events.addEventListener('status', (event: MessageEvent<string>) => {
        if (!isTold(JSON.parse(event.data) as TaskStatus)) return;
        events.close();
        resolve();
      });
      events.onerror = () => {
        if (events.readyState === EventSource.CLOSED) void look();
      };
    };
    open();
  });
}
