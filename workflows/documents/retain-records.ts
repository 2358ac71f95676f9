import { proxyActivities, setCurrentDetails, workflowInfo } from '@temporalio/workflow';
import type { SweepActivities } from '../../activities/documents/sweep-activities.js';
import { taskQueues } from '../../schemas/task-queues.js';
import { bulk } from '../activity-profiles.js';

const DAY_MS = 86_400_000;

/** Started by a schedule of its own for each kind of record: removes what ended longer ago than it is kept. */
export async function retainRecords(input: {
  prefix: string;
  of: 'tasks' | 'callbacks';
  retentionDays: number;
}): Promise<{ removed: number }> {
  const { prefix, of, retentionDays } = input;
  const { removeEnded } = proxyActivities<SweepActivities>({
    ...bulk,
    taskQueue: taskQueues(prefix).documents,
  });
  const beforeMs = workflowInfo().startTime.getTime() - retentionDays * DAY_MS;
  const border = `${of} that ended before ${new Date(beforeMs).toISOString()}`;
  setCurrentDetails(`removes records of ${border}`);
  const removed = await removeEnded({ of, beforeMs });
  setCurrentDetails(`${removed} records of ${border} removed`);
  return { removed };
}
