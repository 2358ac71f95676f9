import { proxyActivities, setCurrentDetails, workflowInfo } from '@temporalio/workflow';
import type { AlertUpkeepActivities } from '../../activities/signals/alert-upkeep-activities.js';
import { taskQueues } from '../../schemas/task-queues.js';
import { bulk } from '../activity-profiles.js';

const DAY_MS = 86_400_000;

/** Gives up what is in quarantine for too long, the oldest first; the alerts stay until their own time is over. */
export async function retainQuarantine(input: {
  prefix: string;
  quarantineDays: number;
}): Promise<{ discarded: number }> {
  const { giveUpQuarantined } = proxyActivities<AlertUpkeepActivities>({
    ...bulk,
    taskQueue: taskQueues(input.prefix).alerts,
  });
  const beforeMs = workflowInfo().startTime.getTime() - input.quarantineDays * DAY_MS;
  const border = new Date(beforeMs).toISOString();
  setCurrentDetails(`gives up what is in quarantine since before ${border}`);
  let discarded = 0;
  for (let left = true; left;) {
    const given = await giveUpQuarantined(beforeMs);
    discarded += given.discarded;
    left = given.left;
    setCurrentDetails(`${discarded} given up that were in quarantine since before ${border}`);
  }
  return { discarded };
}
