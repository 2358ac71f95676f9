import { continueAsNew, proxyActivities, setCurrentDetails, workflowInfo } from '@temporalio/workflow';
import type { AlertUpkeepActivities } from '../../activities/signals/alert-upkeep-activities.js';
import { taskQueues } from '../../schemas/task-queues.js';
import { bulk, quick } from '../activity-profiles.js';

export interface RetainAlertsInput {
  prefix: string;
  /** Alerts received longer ago than this are removed. */
  retentionDays: number;
  /** What is in quarantine for longer is given up; left out, or 0: nothing. */
  quarantineDays?: number;
  /** Set when a run goes on as a new one: what it is about does not move while it runs. */
  beforeMs?: number;
  removed?: number;
}

const DAY_MS = 86_400_000;

/**
 * Removes what is older than the retention, in batches, the oldest first. What waits for the central API stays, however
 * old, and so does what waits for a person, unless that has a time of its own: then it is given up first. Afterwards
 * the hours that it touched are counted anew.
 */
export async function retainAlerts(input: RetainAlertsInput): Promise<{ removed: number }> {
  const taskQueue = taskQueues(input.prefix).alerts;
  const { removeOldAlerts, giveUpQuarantined } = proxyActivities<AlertUpkeepActivities>({
    ...bulk,
    taskQueue,
  });
  const { countHours, forgetHours } = proxyActivities<AlertUpkeepActivities>({ ...quick, taskQueue });
  const startedAt = workflowInfo().startTime.getTime();
  const beforeMs = input.beforeMs ?? startedAt - input.retentionDays * DAY_MS;
  const { quarantineDays = 0 } = input;

  if (quarantineDays > 0 && input.beforeMs === undefined)
    while ((await giveUpQuarantined(startedAt - quarantineDays * DAY_MS)).left) continue;

  let removed = input.removed ?? 0;
  const describe = (): void => {
    setCurrentDetails(`${removed} alerts of before ${new Date(beforeMs).toISOString()} removed`);
  };
  describe();
  for (let left = true; left;) {
    const batch = await removeOldAlerts(beforeMs);
    removed += batch.removed;
    left = batch.left;
    describe();
    if (left && workflowInfo().continueAsNewSuggested)
      await continueAsNew<typeof retainAlerts>({ ...input, beforeMs, removed });
  }
  if (removed > 0) {
    while ((await countHours()).left) continue;
    // The hour of the border may still hold alerts; so may those in which something waits.
    await forgetHours(beforeMs);
  }
  return { removed };
}
