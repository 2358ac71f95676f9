import type { Adapters } from '../ports/adapters.js';
import type { TaskHead } from '../../schemas/documents/tasks.js';

/** What one round hands over at most. */
const ROUND = 200;

/**
 * Whose tasks are started next: each user has `perUser` at work at most, and users take turns, the oldest task of
 * each before the second of any. Only what the file record waits for is started; the rest is admission under way, or
 * what it left.
 */
export async function takeTurns(
  { tasks, files }: Pick<Adapters, 'tasks' | 'files'>,
  perUser: number,
): Promise<{ next: TaskHead[]; waiting: number }> {
  const turns = await tasks.countTurns();
  const queues = await Promise.all(
    turns.map(async ({ userId, running }) =>
      running >= perUser ? [] : tasks.listWaiting(userId, Math.min(perUser - running, ROUND)),
    ),
  );
  const longest = Math.max(0, ...queues.map(({ length }) => length));
  const inTurn = Array.from({ length: longest }, (_, place) =>
    queues.flatMap((queue) => queue[place] ?? []),
  ).flat();
  const round = inTurn.slice(0, ROUND);
  const records = await files.getMany(
    round.map(({ file_key }) => file_key),
    { reports: false },
  );
  return {
    next: round.filter((task) => records.get(task.file_key)?.pending_task === task.task_id),
    waiting: turns.reduce((sum, { waiting }) => sum + waiting, 0),
  };
}
