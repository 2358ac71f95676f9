import {
  Client,
  Connection,
  ScheduleAlreadyRunning,
  ScheduleNotFoundError,
  ScheduleOverlapPolicy,
} from '@temporalio/client';
import type { Config } from '../schemas/config/config.js';
import {
  countAlertsScheduleId,
  reconcileScheduleId,
  retainAlertsScheduleId,
  sweepForwardingScheduleId,
  sweepScheduleId,
} from '../schemas/ids.js';
import { taskQueues } from '../schemas/task-queues.js';

/** Creates the schedules, or brings existing ones up to the present configuration. */
export const ensureSchedules = async (
  config: Pick<Config, 'temporal' | 'documents' | 'proxy'>,
): Promise<void> => {
  const { address, namespace, prefix } = config.temporal;
  const connection = await Connection.connect({ address });
  try {
    const client = new Client({ connection, namespace });
    const timeoutMs = config.documents.taskTimeoutHours * 3_600_000;
    await ensure(client, {
      scheduleId: sweepScheduleId(prefix),
      everyMs: config.documents.sweepIntervalSeconds * 1000,
      workflowType: 'sweepDocuments',
      taskQueue: taskQueues(prefix).documents,
      args: [{ prefix, timeoutMs }],
    });
    await ensure(client, {
      scheduleId: reconcileScheduleId(prefix),
      everyMs: 3_600_000,
      workflowType: 'reconcileDocuments',
      taskQueue: taskQueues(prefix).documents,
      args: [{ prefix }],
    });
    await ensure(client, {
      scheduleId: sweepForwardingScheduleId(prefix),
      everyMs: config.documents.sweepIntervalSeconds * 1000,
      workflowType: 'sweepForwarding',
      taskQueue: taskQueues(prefix).alerts,
      args: [{ prefix }],
    });
    await ensure(client, {
      scheduleId: countAlertsScheduleId(prefix),
      everyMs: COUNT_EVERY_MS,
      workflowType: 'countAlerts',
      taskQueue: taskQueues(prefix).alerts,
      args: [{ prefix }],
    });
    const { retentionDays } = config.proxy;
    if (retentionDays === 0) await remove(client, retainAlertsScheduleId(prefix));
    else
      await ensure(client, {
        scheduleId: retainAlertsScheduleId(prefix),
        everyMs: 3_600_000,
        workflowType: 'retainAlerts',
        taskQueue: taskQueues(prefix).alerts,
        args: [{ prefix, retentionDays }],
      });
  } finally {
    await connection.close();
  }
};

/** A question counts what is missing; this keeps it little. */
const COUNT_EVERY_MS = 60_000;

interface Wanted {
  scheduleId: string;
  everyMs: number;
  workflowType: string;
  taskQueue: string;
  args: unknown[];
}

const ensure = async (client: Client, wanted: Wanted): Promise<void> => {
  const { scheduleId, everyMs, ...action } = wanted;
  const schedule = {
    spec: { intervals: [{ every: everyMs }] },
    action: { type: 'startWorkflow' as const, workflowId: scheduleId, ...action },
    // A run that takes longer than the interval is enough; the next one takes up what it left.
    policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: 60_000 },
  };
  try {
    await client.schedule.create({ scheduleId, ...schedule });
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    await client.schedule.getHandle(scheduleId).update((present) => ({ ...present, ...schedule }));
  }
};

const remove = async (client: Client, scheduleId: string): Promise<void> => {
  try {
    await client.schedule.getHandle(scheduleId).delete();
  } catch (error) {
    if (!(error instanceof ScheduleNotFoundError)) throw error;
  }
};
