import {
  CancellationScope,
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  isCancellation,
  patched,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  upsertMemo,
} from '@temporalio/workflow';
import type { MigrationActivities } from '../../activities/migrations/migration-activities.js';
import type { MigrationSlice } from '../../activities/ports/migrations.js';
import type { MigrationMode, MigrationName } from '../../schemas/migrations/migrations.js';
import { taskQueues } from '../../schemas/task-queues.js';
import { bulk, quick } from '../activity-profiles.js';
import { causeOf } from '../cause-of.js';
import { goesOnAsNew } from '../goes-on-as-new.js';

export interface MigrateInput {
  prefix: string;
  runId: string;
  name: MigrationName;
  mode: MigrationMode;
  unit: string;
  pagesPerSecond: number | null;
  startedBy: string;
  /** The run pauses by itself then; milliseconds since 1970. */
  windowEndsAt?: number;
  /** Set when a run goes on as a new one. */
  continued?: { last: MigrationSlice | null; paused: boolean };
}

/** What the query answers. */
export interface MigrationProgressAnswer {
  paused: boolean;
  pagesPerSecond: number | null;
  windowEndsAt: number | null;
  last: MigrationSlice | null;
}

const pauseSignal = defineSignal('pause');
const resumeSignal = defineSignal('resume');
/** Null: as fast as it goes. */
const paceSignal = defineSignal<[number | null]>('pace');
/**
 * A window opens: a run that keeps to windows goes on, unless a person paused it, and pauses at its end. One that was
 * started by hand, or that a person let go on beyond its window, goes on as it does.
 */
export const windowSignal = defineSignal<[number]>('window');
const progressQuery = defineQuery<MigrationProgressAnswer>('progress');

/**
 * Runs a migration slice by slice. Slices are activities of some seconds, so that a pause or a change of the pace takes
 * effect soon, and each starts where the one before ended. A cancel is obeyed where the migration can be given up.
 */
export async function migrate(
  input: MigrateInput,
): Promise<{ done: number; figures: Record<string, number> }> {
  const taskQueue = taskQueues(input.prefix).migrations;
  const { runMigrationSlice } = proxyActivities<MigrationActivities>({ ...bulk, taskQueue });
  const { beginMigration, pauseMigration, endMigration, abandonMigration } =
    proxyActivities<MigrationActivities>({
      ...quick,
      taskQueue,
    });
  const { runId, name, mode, unit, startedBy } = input;

  let last = input.continued?.last ?? null;
  let isPaused = input.continued?.paused ?? false;
  let { pagesPerSecond } = input;
  let windowEndsAt = input.windowEndsAt ?? null;
  setHandler(pauseSignal, () => {
    isPaused = true;
  });
  setHandler(resumeSignal, () => {
    isPaused = false;
    // An operator who resumes it by hand wants it to go on beyond the window.
    windowEndsAt = null;
  });
  setHandler(paceSignal, (pages) => {
    pagesPerSecond = pages;
  });
  setHandler(windowSignal, (endsAt) => {
    if (windowEndsAt !== null || !patched('windows-of-schedules')) windowEndsAt = endsAt;
  });
  setHandler(progressQuery, () => ({ paused: isPaused, pagesPerSecond, windowEndsAt, last }));
  const mayGoOn = (): boolean => !isPaused && (windowEndsAt === null || Date.now() < windowEndsAt);

  const describe = (): void => {
    const share = last?.total ? ` of ${last.total} (${Math.floor((100 * last.done) / last.total)} %)` : '';
    const words = `${last?.position.phase ?? 'starting'}: ${last?.done ?? 0}${share} ${unit}`;
    setCurrentDetails(mayGoOn() ? words : `paused; ${words}`);
    upsertMemo({
      phase: last?.position.phase ?? 'starting',
      done: last?.done ?? 0,
      total: last?.total ?? null,
    });
  };

  setCurrentDetails(`starting: ${unit} of ${name}`);
  const waitForTurn = async (): Promise<void> => {
    if (mayGoOn()) return;
    describe();
    await pauseMigration({ runId, paused: true });
    await condition(mayGoOn);
    await pauseMigration({ runId, paused: false });
  };

  const nextSlice = (): Promise<MigrationSlice> =>
    runMigrationSlice({
      runId,
      name,
      mode,
      pagesPerSecond,
      position: last?.position ?? null,
      ...(windowEndsAt === null ? {} : { notAfter: windowEndsAt }),
    });

  const work = async (): Promise<void> => {
    if (input.continued === undefined)
      await beginMigration({ runId, name, mode, unit, pagesPerSecond, startedBy });
    while (last?.ended !== true) {
      const cancellable: boolean = last?.cancellable ?? true;
      if (cancellable) await waitForTurn();
      last = cancellable ? await nextSlice() : await CancellationScope.nonCancellable(nextSlice);
      describe();
      if (goesOnAsNew(last.cancellable)) return;
    }
  };

  try {
    await work();
  } catch (error) {
    await CancellationScope.nonCancellable(async () => {
      await abandonMigration({ name, mode, position: last?.position ?? null });
      await endMigration(
        isCancellation(error)
          ? { runId, state: 'cancelled', error: null }
          : { runId, state: 'failed', error: causeOf(error) },
      );
    });
    throw error;
  }
  if (last?.ended !== true) {
    // Not the end of the window that this one began with: a person may have resumed it since.
    const { windowEndsAt: _former, ...rest } = input;
    return continueAsNew<typeof migrate>({
      ...rest,
      pagesPerSecond,
      ...(windowEndsAt === null ? {} : { windowEndsAt }),
      continued: { last, paused: isPaused },
    });
  }
  const { done, figures } = last;
  await CancellationScope.nonCancellable(() => endMigration({ runId, state: 'completed', error: null }));
  return { done, figures };
}
