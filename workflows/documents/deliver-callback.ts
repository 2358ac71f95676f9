import { CancellationScope, proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { CallbackActivities } from '../../activities/documents/callback-activities.js';
import { taskQueues } from '../../schemas/task-queues.js';
import { persistent, quick } from '../activity-profiles.js';

export interface DeliverCallbackInput {
  prefix: string;
  taskId: string;
}

/** Sends the completion callback of a task, repeated for a day until it is accepted. */
export async function deliverCallback(input: DeliverCallbackInput): Promise<{ delivered: boolean }> {
  const taskQueue = taskQueues(input.prefix).documents;
  const { sendCallback } = proxyActivities<CallbackActivities>({ ...persistent, taskQueue });
  const { giveUpCallback } = proxyActivities<CallbackActivities>({ ...quick, taskQueue });
  try {
    setCurrentDetails('sends the callback, for a day until it is accepted');
    await sendCallback(input.taskId);
    setCurrentDetails('accepted');
    return { delivered: true };
  } catch {
    setCurrentDetails('given up: it was not accepted');
    // Its last reason is in the delivery record.
    await CancellationScope.nonCancellable(() => giveUpCallback(input.taskId));
    return { delivered: false };
  }
}
