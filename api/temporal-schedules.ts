import { isDeepStrictEqual } from 'node:util';
import {
  ScheduleAlreadyRunning,
  ScheduleClient,
  ScheduleNotFoundError,
  ScheduleOverlapPolicy,
  isGrpcServiceError,
} from '@temporalio/client';
import type { Client, ScheduleDescription, ScheduleHandle } from '@temporalio/client';
import { changeSchedule } from '../activities/temporal/change-schedule.js';
import type { Schedule } from '../activities/temporal/change-schedule.js';
import {
  areAlikeWritten,
  decodeAction,
  encodeAction,
  forgiving,
} from '../activities/temporal/schedule-action.js';
import type { ScheduleChange, ScheduleState, ScheduleSteering } from '../activities/ports/schedules.js';
import { AppError } from '../schemas/app-error.js';
import {
  backupScheduleId,
  migrationScheduleId,
  reconcileScheduleId,
  retainAlertsScheduleId,
  retainQuarantineScheduleId,
  retainRecordsScheduleId,
} from '../schemas/ids.js';
import type { ScheduleName, ScheduledWork } from '../schemas/migrations/schedules.js';

const MINUTE_MS = 60_000;
/** gRPC's INVALID_ARGUMENT: a cron line that Temporal cannot read. */
const INVALID_ARGUMENT = 3;
const MAX_LOOKS = 50;
/** Those whose workflow answers with counts. */
const COUNTING: ReadonlySet<ScheduleName> = new Set(['reconcile']);

type Described = Awaited<ReturnType<Client['workflowService']['describeSchedule']>>;

/** Steers Temporal's Schedules for the gateway. `ask` bounds each call in time. */
export function createScheduleSteering(
  client: Client,
  prefix: string,
  ask: <T>(call: () => Promise<T>) => Promise<T>,
): ScheduleSteering {
  const handleOf = (name: ScheduleName): ScheduleHandle =>
    client.schedule.getHandle(scheduleIdOf(prefix, name));
  const { namespace, loadedDataConverter } = client.options;
  // One that was encrypted with a former key must not hide the others.
  const reading = new ScheduleClient({
    connection: client.connection,
    namespace,
    dataConverter: forgiving(loadedDataConverter),
  });

  const steer = async (
    name: ScheduleName,
    call: (handle: ScheduleHandle) => Promise<unknown>,
  ): Promise<void> => {
    try {
      await ask(() => call(handleOf(name)));
    } catch (error) {
      if (error instanceof ScheduleNotFoundError) throw notSet(name);
      throw away(error);
    }
  };

  return {
    async describeSchedule(name) {
      try {
        const handle = reading.getHandle(scheduleIdOf(prefix, name));
        const described = await ask(() => handle.describe());
        const lastResult = COUNTING.has(name) ? await lastResultOf(client, described, ask) : null;
        return { ...presentState(described), lastResult };
      } catch (error) {
        if (error instanceof ScheduleNotFoundError) return null;
        throw away(error);
      }
    },

    async setSchedule(work, change) {
      const { scheduleId, ...started } = work;
      const { paused = false, note } = change;
      try {
        await ask(() =>
          client.schedule.create({
            scheduleId,
            spec: { cronExpressions: [withComment(change.cron)] },
            action: { type: 'startWorkflow', workflowId: scheduleId, ...started },
            policies: {
              overlap: ScheduleOverlapPolicy.SKIP,
              catchupWindow: change.catchUpMinutes * MINUTE_MS,
            },
            state: { paused, ...(note === undefined ? {} : { note }) },
          }),
        );
      } catch (error) {
        if (!(error instanceof ScheduleAlreadyRunning)) throw unreadable(error) ?? away(error);
        await updateSchedule(client, work, change, ask);
      }
    },

    removeSchedule: (name) => steer(name, (handle) => handle.delete()),
    pauseSchedule: (name, note) => steer(name, (handle) => handle.pause(note)),
    resumeSchedule: (name, note) => steer(name, (handle) => handle.unpause(note)),
    runSchedule: (name) => steer(name, (handle) => handle.trigger(ScheduleOverlapPolicy.SKIP)),
  };
}

function scheduleIdOf(prefix: string, name: ScheduleName): string {
  switch (name) {
    case 'reconcile':
      return reconcileScheduleId(prefix);
    case 'retention':
      return retainAlertsScheduleId(prefix);
    case 'retention-quarantine':
      return retainQuarantineScheduleId(prefix);
    case 'retention-tasks':
      return retainRecordsScheduleId(prefix, 'tasks');
    case 'retention-callbacks':
      return retainRecordsScheduleId(prefix, 'callbacks');
    case 'backup':
      return backupScheduleId(prefix);
    default:
      return migrationScheduleId(prefix, name);
  }
}

/** Temporal keeps what a cron line means and not the line; a comment in it is kept, and shown in its UI. */
function withComment(cron: string): string {
  return `${cron} # ${cron}`;
}

/** Changes what is asked for and keeps the rest. */
async function updateSchedule(
  client: Client,
  work: ScheduledWork,
  change: ScheduleChange,
  ask: <T>(call: () => Promise<T>) => Promise<T>,
): Promise<void> {
  const { loadedDataConverter } = client.options;
  const encoded = await encodeAction(loadedDataConverter, work);
  const wanted = async (schedule: Described['schedule']): Promise<Schedule | null> => {
    const present = schedule?.action?.startWorkflow;
    const args = (await decodeAction(loadedDataConverter, present))?.args;
    const isWritten = areAlikeWritten(present, encoded) && isDeepStrictEqual(args, work.args);
    if (isWritten && isAsWanted(schedule, change)) return null;
    return {
      ...schedule,
      spec: { cronString: [withComment(change.cron)] },
      action: {
        startWorkflow: {
          ...present,
          workflowType: { name: work.workflowType },
          taskQueue: { name: work.taskQueue },
          ...encoded,
        },
      },
      policies: {
        ...schedule?.policies,
        catchupWindow: { seconds: change.catchUpMinutes * 60 } as never,
      },
      state: {
        ...schedule?.state,
        ...(change.paused === undefined ? {} : { paused: change.paused }),
        ...(change.note === undefined ? {} : { notes: change.note }),
      },
    };
  };
  let isSettled: boolean;
  try {
    isSettled = await changeSchedule(client, work.scheduleId, wanted, { looks: MAX_LOOKS, ask });
  } catch (error) {
    throw unreadable(error) ?? away(error);
  }
  if (!isSettled)
    throw new AppError('CONFLICT', 'The schedule is being changed by other requests all the time.');
}

function isAsWanted(
  schedule: Described['schedule'],
  { cron, paused, note, catchUpMinutes }: ScheduleChange,
): boolean {
  const { spec, state, policies } = schedule ?? {};
  return (
    runsBy(spec, cron) &&
    Number(policies?.catchupWindow?.seconds) === catchUpMinutes * 60 &&
    (paused === undefined || (state?.paused ?? false) === paused) &&
    (note === undefined || state?.notes === note)
  );
}

type Spec = NonNullable<Described['schedule']>['spec'];

function runsBy(spec: Spec | undefined, cron: string): boolean {
  const { structuredCalendar, interval } = spec ?? {};
  return structuredCalendar?.length === 1 && structuredCalendar[0]?.comment === cron && !interval?.length;
}

function presentState({
  spec,
  action,
  policies,
  state,
  info,
}: ScheduleDescription): Omit<ScheduleState, 'lastResult'> {
  return {
    ...presentTimes(spec),
    args: [...((action.args ?? []) as unknown[])],
    paused: state.paused,
    note: state.note ?? null,
    overlap: (policies.overlap ?? ScheduleOverlapPolicy.SKIP).toLowerCase(),
    catchUpMinutes: policies.catchupWindow / MINUTE_MS,
    running: info.runningActions.length > 0,
    lastRun: info.recentActions.at(-1)?.takenAt ?? null,
    nextRuns: info.nextActionTimes,
  };
}

/** What the newest run that has ended answered. A state is no worse for it being unknown. */
async function lastResultOf(
  client: Client,
  { info }: ScheduleDescription,
  ask: <T>(call: () => Promise<T>) => Promise<T>,
): Promise<ScheduleState['lastResult']> {
  const running = new Set(info.runningActions.map(({ workflow }) => workflow.workflowId));
  const ended = info.recentActions
    .map(({ action }) => action.workflow)
    .filter(({ workflowId }) => !running.has(workflowId));
  const last = ended.at(-1);
  if (last === undefined) return null;
  try {
    const handle = client.workflow.getHandle(last.workflowId, last.firstExecutionRunId);
    const { status } = await ask(() => handle.describe());
    if (status.name !== 'COMPLETED') return null;
    const result: unknown = await ask(() => handle.result());
    return onlyNumbers(result);
  } catch {
    return null;
  }
}

function onlyNumbers(result: unknown): Record<string, number> | null {
  if (typeof result !== 'object' || result === null) return null;
  return Object.fromEntries(
    Object.entries(result).filter((entry): entry is [string, number] => typeof entry[1] === 'number'),
  );
}

function presentTimes(spec: ScheduleDescription['spec']): Pick<ScheduleState, 'cron' | 'everyMinutes'> {
  const { calendars = [], intervals = [] } = spec;
  const [calendar] = calendars;
  const [interval] = intervals;
  if (calendars.length === 1 && intervals.length === 0)
    return { cron: calendar?.comment ?? null, everyMinutes: null };
  if (interval !== undefined && intervals.length === 1 && calendars.length === 0)
    return { cron: null, everyMinutes: interval.every / MINUTE_MS };
  return { cron: null, everyMinutes: null };
}

function notSet(name: ScheduleName): AppError {
  return new AppError('NOT_FOUND', `There is no schedule ${name}.`);
}

/** What the server calls an invalid argument, which the SDK throws as a TypeError where it creates a schedule. */
function unreadable(error: unknown): AppError | null {
  const isInvalid = isGrpcServiceError(error) && (error.code as number) === INVALID_ARGUMENT;
  if (!isInvalid && !(error instanceof TypeError)) return null;
  const words = (isGrpcServiceError(error) ? error.details : error.message).replace(
    /^Invalid schedule spec: /,
    '',
  );
  return new AppError('VALIDATION_ERROR', `Temporal cannot read this: ${words}`, { cause: error });
}

export function away(error: unknown): AppError {
  return new AppError('SERVICE_UNAVAILABLE', 'Temporal cannot be reached', { cause: error });
}
