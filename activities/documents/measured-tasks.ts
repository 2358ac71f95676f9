import type { Meter } from '../ports/meter.js';
import type { TaskStore } from '../ports/tasks.js';

/** The same store, with the ends of tasks and their waits counted where the record says that they happened just now. */
export function measuredTasks(
  tasks: TaskStore,
  meter: Pick<Meter, 'documentEnded' | 'queueWaited'>,
): TaskStore {
  return {
    ...tasks,
    async begin(taskId, update) {
      const task = await tasks.begin(taskId, update);
      // A later attempt begins anew what has waited already, also one that is the first by its own count.
      if (task?.started_at != null && update?.attempt === 1 && task.attempt === 1)
        meter.queueWaited((task.started_at.getTime() - task.created_at.getTime()) / 1000);
      return task;
    },
    async finish(taskId, state, failure) {
      const ended = await tasks.finish(taskId, state, failure);
      if (ended) meter.documentEnded(state);
      return ended;
    },
    async complete(taskId, facts) {
      const ended = await tasks.complete(taskId, facts);
      if (ended) meter.documentEnded('COMPLETED');
      return ended;
    },
  };
}
