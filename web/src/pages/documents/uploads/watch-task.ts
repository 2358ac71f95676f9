import type { TaskStatus } from '../queries';

const AGAIN_MS = 3_000;

/**
 * Tells each change of a task until it is final. A stream that the server refused, as while it restarts, is opened
 * anew; one that broke off the browser opens itself.
 */
export function watchTask(taskId: string, onStatus: (status: TaskStatus) => void): Promise<void> {
  return new Promise((resolve) => {
    const open = () => {
      const events = new EventSource(`/indexer/task/${encodeURIComponent(taskId)}/events`);
      events.addEventListener('status', (event: MessageEvent<string>) => {
        const status = JSON.parse(event.data) as TaskStatus;
        onStatus(status);
        if (!['COMPLETED', 'FAILED', 'CANCELLED'].includes(status.task_state)) return;
        events.close();
        resolve();
      });
      events.onerror = () => {
        if (events.readyState === EventSource.CLOSED) setTimeout(open, AGAIN_MS);
      };
    };
    open();
  });
}
