import { setTimeout as sleep } from 'node:timers/promises';
import type { TaskStore } from '../../../activities/ports/tasks.js';
import type { TaskRecord } from '../../../schemas/documents/tasks.js';

export const LOOK_EVERY_MS = 200;

/** @returns the record as it is after a moment; null when it is gone. @throws what the store throws */
export type TaskWatch = (taskId: string) => Promise<TaskRecord | null>;

/**
 * For those who wait for a task: its record is read, since any gateway may serve any client and the work is done
 * elsewhere. All that are waited for at a moment are read together, so that many clients cost no more than one.
 */
export function createTaskWatch(tasks: Pick<TaskStore, 'getMany'>): TaskWatch {
  let asked = new Set<string>();
  let next: Promise<ReadonlyMap<string, TaskRecord>> | null = null;
  const readNext = async (): Promise<ReadonlyMap<string, TaskRecord>> => {
    await sleep(LOOK_EVERY_MS);
    const taskIds = [...asked];
    asked = new Set();
    next = null;
    return tasks.getMany(taskIds);
  };
  return async (taskId) => {
    asked.add(taskId);
    next ??= readNext();
    return (await next).get(taskId) ?? null;
  };
}
