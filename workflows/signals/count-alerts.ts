import { proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { AlertUpkeepActivities } from '../../activities/signals/alert-upkeep-activities.js';
import { taskQueues } from '../../schemas/task-queues.js';
import { quick } from '../activity-profiles.js';

/** Steps of one run. */
const MAX_STEPS = 100;

/**
 * Brings the hourly statistics up to date, so that a request for them counts a few hours at most. A
 * question counts what is missing itself: nothing is wrong while this plan does not run, only slower. It is part of
 * `upkeepSignals`; the workflow stays for schedules of an earlier release, and for operators.
 */
export async function countAlerts(input: { prefix: string }): Promise<{ counted: number }> {
  const { counted } = await countChangedHours(input.prefix, MAX_STEPS);
  return { counted };
}

/** At most so many steps; `left` when there is more. */
export async function countChangedHours(
  prefix: string,
  maxSteps: number,
): Promise<{ counted: number; left: boolean }> {
  const { countHours } = proxyActivities<AlertUpkeepActivities>({
    ...quick,
    taskQueue: taskQueues(prefix).alerts,
  });
  let counted = 0;
  let left = true;
  setCurrentDetails('counts the hours whose alerts have changed');
  for (let step = 0; left && step < maxSteps; step += 1) {
    const done = await countHours();
    counted += done.counted;
    left = done.left;
  }
  return { counted, left };
}
