import type { TaskStore } from '../ports/tasks.js';

/** A count is taken for the present one so long, where it is far from the bound that it is compared with. */
const RECENT_MS = 1000;
/** Beyond so many users the counts of all are taken anew. */
const MAX_USERS = 1000;

/**
 * The same store, for a gateway: counts of active tasks that lie below half of what is asked for are remembered for a
 * second, with what this process has admitted since. Each upload asks twice, and is refused only near the bound, where
 * the tasks themselves are counted. So many as other gateways admit within a second may pass a bound, as may those that
 * run at once.
 */
export function withRecentCounts(tasks: TaskStore, now: () => number = () => performance.now()): TaskStore {
  const counts = new Map<number | null, { count: number; at: number }>();
  const admitted = (userId: number | null): void => {
    const known = counts.get(userId);
    if (known !== undefined) known.count += 1;
  };
  return {
    ...tasks,
    async insert(task) {
      // Before it is written: a count that is under way may see it or not.
      admitted(null);
      admitted(task.user_id);
      await tasks.insert(task);
    },
    async countActive(userId, most) {
      const known = counts.get(userId);
      if (known !== undefined && now() - known.at < RECENT_MS && known.count < most / 2) return known.count;
      const at = now();
      const count = await tasks.countActive(userId, most);
      if (counts.size >= MAX_USERS) counts.clear();
      // One that was stopped at the bound says no more than that.
      if (count < most) counts.set(userId, { count, at });
      else counts.delete(userId);
      return count;
    },
  };
}
