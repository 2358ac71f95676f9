import { isDeepStrictEqual } from 'node:util';
import {
  ScheduleAlreadyRunning,
  ScheduleNotFoundError,
  ScheduleOverlapPolicy,
  isGrpcServiceError,
} from '@temporalio/client';
import type { Client } from '@temporalio/client';
import { changeSchedule } from '../activities/temporal/change-schedule.js';
import type { Schedule } from '../activities/temporal/change-schedule.js';
import { areAlikeWritten, decodeAction, encodeAction } from '../activities/temporal/schedule-action.js';
import type { Config } from '../schemas/config/config.js';
import {
  backupScheduleId,
  migrationScheduleId,
  retainAlertsScheduleId,
  retainQuarantineScheduleId,
} from '../schemas/ids.js';
import { MIGRATIONS } from '../schemas/migrations/migrations.js';
import {
  RETENTION_SCHEDULES,
  keptBy,
  reconcileWork,
  retentionWork,
} from '../schemas/migrations/schedules.js';
import type { ScheduledWork } from '../schemas/migrations/schedules.js';

const HOUR_MS = 3_600_000;

const MAX_UPDATE_LOOKS = 100;
/** gRPC's number of it. */
const NOT_FOUND = 5;

/**
 * Creates the schedules that are missing. Of one that is there only what it starts is brought up to the present
 * release and configuration: when it runs, and whether it is paused, is an operator's to change.
 * @param onUnreadable told of a schedule of an operator's that no key opens
 */
export async function ensureSchedules(
  client: Client,
  config: Pick<Config, 'temporal' | 'documents' | 'proxy' | 'secretsKey' | 'services'>,
  onUnreadable: (scheduleId: string) => void = () => undefined,
): Promise<void> {
  const { prefix } = config.temporal;
  if (config.services.documents) await ensure(client, reconcileWork(prefix));
  const kept = keptBy(config);
  for (const name of RETENTION_SCHEDULES) {
    const work = retentionWork(prefix, name, kept);
    if (work !== null) await ensure(client, work);
  }
  const ofOperators = [
    backupScheduleId(prefix),
    ...MIGRATIONS.map((name) => migrationScheduleId(prefix, name)),
  ];
  await Promise.all(
    ofOperators.map(async (id) => {
      if (!(await renewAction(client, id))) onUnreadable(id);
    }),
  );
  // Another worker may serve what this one does not, for want of the proxy or of SECRETS_KEY.
  if (kept.signals === null) return;
  if (kept.signals.alerts === 0) await remove(client, retainAlertsScheduleId(prefix));
  if (kept.signals.quarantine === 0) await remove(client, retainQuarantineScheduleId(prefix));
}

async function ensure(client: Client, { scheduleId, ...started }: ScheduledWork): Promise<void> {
  try {
    await client.schedule.create({
      scheduleId,
      spec: { intervals: [{ every: HOUR_MS }] },
      action: { type: 'startWorkflow', workflowId: scheduleId, ...started },
      // A run that takes longer than the interval is enough; the next one takes up what it left.
      policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: 60_000 },
      state: { note: 'made by a worker: every hour, skipped while the last run goes on' },
    });
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    await updateAction(client, { scheduleId, ...started });
  }
}

/** What is wanted in place of what a schedule starts; null: it is as wanted. */
type Change = (present: Action | null | undefined) => Promise<Partial<Action> | null>;
type Action = NonNullable<NonNullable<Schedule['action']>['startWorkflow']>;

async function updateAction(client: Client, work: ScheduledWork): Promise<void> {
  const { scheduleId, workflowType, taskQueue, args, staticSummary } = work;
  const { loadedDataConverter: converter } = client.options;
  const encoded = await encodeAction(converter, { args, staticSummary });
  await changeAction(client, scheduleId, async (present) =>
    present?.workflowType?.name === workflowType &&
    present.taskQueue?.name === taskQueue &&
    areAlikeWritten(present, encoded) &&
    isDeepStrictEqual(await decodeAction(converter, present), { args, staticSummary })
      ? null
      : { workflowType: { name: workflowType }, taskQueue: { name: taskQueue }, ...encoded },
  );
}

/**
 * Writes what a schedule of an operator's starts with the present key, before the one it was encrypted with goes.
 * @returns false when no key opens it: it has to be set anew
 */
async function renewAction(client: Client, scheduleId: string): Promise<boolean> {
  const { loadedDataConverter: converter } = client.options;
  let isReadable = true;
  try {
    await changeAction(client, scheduleId, async (present) => {
      const values = await decodeAction(converter, present);
      isReadable = values !== null;
      if (values === null) return null;
      const encoded = await encodeAction(converter, values);
      return areAlikeWritten(present, encoded) ? null : encoded;
    });
  } catch (error) {
    if (!isGrpcServiceError(error) || (error.code as number) !== NOT_FOUND) throw error;
  }
  return isReadable;
}

/** Changes what a schedule starts and nothing else. */
async function changeAction(client: Client, scheduleId: string, change: Change): Promise<void> {
  const wanted = async (schedule: Schedule | null | undefined): Promise<Schedule | null> => {
    const present = schedule?.action?.startWorkflow;
    const changed = await change(present);
    return changed && { ...schedule, action: { startWorkflow: { ...present, ...changed } } };
  };
  if (!(await changeSchedule(client, scheduleId, wanted, { looks: MAX_UPDATE_LOOKS })))
    throw new Error(`What the schedule ${scheduleId} starts could not be updated: it changes all the time.`);
}

async function remove(client: Client, scheduleId: string): Promise<void> {
  try {
    await client.schedule.getHandle(scheduleId).delete();
  } catch (error) {
    if (!(error instanceof ScheduleNotFoundError)) throw error;
  }
}
