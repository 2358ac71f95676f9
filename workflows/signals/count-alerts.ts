import { proxyActivities } from '@temporalio/workflow';
import type { AlertUpkeepActivities } from '../../activities/signals/alert-upkeep-activities.js';
import { taskQueues } from '../../schemas/task-queues.js';
import { quick } from '../activity-profiles.js';

/** After so many steps the next run of the schedule goes on. */
const MOST_STEPS = 100;

/**
 * Brings the hourly statistics up to date, so that whoever asks for them waits for a few hours' counting at most. A
 * question counts what is missing itself: nothing is wrong while this plan does not run, only slower.
 */
export async function countAlerts(input: { prefix: string }): Promise<{ counted: number }> {
  const { countHours } = proxyActivities<AlertUpkeepActivities>({
    ...quick,
    taskQueue: taskQueues(input.prefix).alerts,
  });
  let counted = 0;
  for (let step = 0; step < MOST_STEPS; step += 1) {
    const done = await countHours();
    counted += done.counted;
    if (!done.left) break;
  }
  return { counted };
}
