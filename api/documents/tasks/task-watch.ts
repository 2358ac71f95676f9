import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { TaskStore } from '../../../activities/ports/tasks.js';
import type { TaskHead, TaskRecord } from '../../../schemas/documents/tasks.js';

export const LOOK_EVERY_MS = 200;

/**
 * @returns the record as it is after a moment, the same object while nothing has changed; null when it is gone
 * @throws what the store throws
 */
export type TaskWatch = (taskId: string) => Promise<TaskRecord | null>;

interface Seen {
  head: TaskHead;
  task: TaskRecord;
}

/**
 * For those who wait for a task: its record is read, since any gateway may serve any client and the work is done
 * elsewhere. All that are waited for at a moment are read together, so that many clients cost no more than one, and
 * their metadata only where something has changed: 64 KiB each, five times a second.
 */
export function createTaskWatch(tasks: Pick<TaskStore, 'getHeads' | 'getMany'>): TaskWatch {
  let asked = new Set<string>();
  let next: Promise<ReadonlyMap<string, Seen>> | null = null;
  /** By the last two looks: one may begin while another is under way, for other tasks. */
  let seenBefore: readonly ReadonlyMap<string, Seen>[] = [];
  const lastOf = (taskId: string): Seen | undefined =>
    seenBefore.map((seen) => seen.get(taskId)).find((one) => one !== undefined);
  const readNext = async (): Promise<ReadonlyMap<string, Seen>> => {
    await sleep(LOOK_EVERY_MS);
    const taskIds = [...asked];
    asked = new Set();
    next = null;
    const heads = await tasks.getHeads(taskIds);
    const changed = [...heads].filter(([taskId, head]) => !isDeepStrictEqual(lastOf(taskId)?.head, head));
    const ids = changed.map(([taskId]) => taskId);
    const read = ids.length > 0 ? await tasks.getMany(ids) : new Map<string, TaskRecord>();
    const seen = new Map<string, Seen>();
    for (const [taskId, head] of heads) {
      const task = read.get(taskId) ?? lastOf(taskId)?.task;
      if (task !== undefined) seen.set(taskId, { head, task });
    }
    seenBefore = [seen, ...seenBefore.slice(0, 1)];
    return seen;
  };
  return async (taskId) => {
    asked.add(taskId);
    next ??= readNext();
    return (await next).get(taskId)?.task ?? null;
  };
}
