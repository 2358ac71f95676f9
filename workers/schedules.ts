import { ScheduleAlreadyRunning, ScheduleNotFoundError, ScheduleOverlapPolicy } from '@temporalio/client';
import type { Client } from '@temporalio/client';
import type { Config } from '../schemas/config/config.js';
import { reconcileScheduleId, retainAlertsScheduleId } from '../schemas/ids.js';
import { taskQueues } from '../schemas/task-queues.js';

const HOUR_MS = 3_600_000;

/**
 * Creates the schedules that are missing. Of one that is there only what it starts is brought up to the present
 * release and configuration: when it runs, and whether it is paused, is an operator's to change.
 */
export async function ensureSchedules(
  client: Client,
  config: Pick<Config, 'temporal' | 'proxy' | 'secretsKey'>,
): Promise<void> {
  const { prefix } = config.temporal;
  await ensure(client, {
    scheduleId: reconcileScheduleId(prefix),
    workflowType: 'reconcileDocuments',
    taskQueue: taskQueues(prefix).documents,
    args: [{ prefix }],
  });
  const { retentionDays } = config.proxy;
  // Without SECRETS_KEY no worker serves the queue of the signals.
  if (retentionDays === 0 || config.secretsKey === null) await remove(client, retainAlertsScheduleId(prefix));
  else
    await ensure(client, {
      scheduleId: retainAlertsScheduleId(prefix),
      workflowType: 'retainAlerts',
      taskQueue: taskQueues(prefix).alerts,
      args: [{ prefix, retentionDays }],
    });
}

interface HourlySchedule {
  scheduleId: string;
  workflowType: string;
  taskQueue: string;
  args: unknown[];
}

async function ensure(client: Client, { scheduleId, ...started }: HourlySchedule): Promise<void> {
  const action = { type: 'startWorkflow' as const, workflowId: scheduleId, ...started };
  try {
    await client.schedule.create({
      scheduleId,
      spec: { intervals: [{ every: HOUR_MS }] },
      action,
      // A run that takes longer than the interval is enough; the next one takes up what it left.
      policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: 60_000 },
    });
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    await client.schedule.getHandle(scheduleId).update((present) => ({ ...present, action }));
  }
}

async function remove(client: Client, scheduleId: string): Promise<void> {
  try {
    await client.schedule.getHandle(scheduleId).delete();
  } catch (error) {
    if (!(error instanceof ScheduleNotFoundError)) throw error;
  }
}
