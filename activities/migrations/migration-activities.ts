import { Context } from '@temporalio/activity';
import { AppError } from '../../schemas/app-error.js';
import type {
  MigrationMode,
  MigrationName,
  MigrationPosition,
  MigrationRun,
} from '../../schemas/migrations/migrations.js';
import { isFinalMigrationState } from '../../schemas/migrations/migrations.js';
import { createPace } from '../pace.js';
import type { Migration, MigrationSlice, MigrationStore, SliceControl } from '../ports/migrations.js';

export interface MigrationActivityDeps {
  store: MigrationStore;
  migrations: readonly Migration[];
  /** A slice ends soon after; 5 s unless a test says otherwise. */
  sliceMs?: number;
}

interface SliceInput {
  runId: string;
  name: MigrationName;
  mode: MigrationMode;
  position: MigrationPosition | null;
  pagesPerSecond: number | null;
  /** The end of a window, in milliseconds since 1970. */
  notAfter?: number;
}

const SLICE_MS = 5_000;
/** More than there are of any migration. */
const RUNS_LOOKED_AT = 1_000;
/** Within a slice, for who watches. */
const REPORT_EVERY_MS = 500;

/** Activities of the workflow that runs migrations. */
export function createMigrationActivities({ store, migrations, sliceMs = SLICE_MS }: MigrationActivityDeps) {
  const find = (name: MigrationName): Migration => {
    const found = migrations.find((migration) => migration.name === name);
    if (found === undefined) throw new AppError('NOT_FOUND', `There is no migration ${name}.`);
    return found;
  };

  /**
   * One workflow at a time is at work on a migration: what is open of the runs before this one was ended in Temporal
   * without a word here.
   */
  const endFormerRuns = async (name: MigrationName, runId: string): Promise<void> => {
    const runs = await store.list(name, RUNS_LOOKED_AT);
    const former = runs.slice(runs.findIndex(({ run_id }) => run_id === runId) + 1);
    const { code, message } = new AppError('MIGRATION_NOT_RUNNING', 'Its workflow was ended in Temporal.');
    for (const { run_id, state } of former)
      if (!isFinalMigrationState(state))
        await store.finish(run_id, { state: 'failed', error: { code, message } });
  };

  const beginMigration = async (
    run: Pick<MigrationRun, 'name' | 'mode' | 'unit'> & {
      runId: string;
      pagesPerSecond: number | null;
      startedBy: string;
    },
  ): Promise<void> => {
    const { runId: run_id, pagesPerSecond: pages_per_second, startedBy: started_by, name, mode, unit } = run;
    await store.insert({ run_id, pages_per_second, started_by, name, mode, unit });
    await endFormerRuns(name, run_id);
  };

  /** Some seconds of a migration. A repeated attempt goes on where the last page ended. */
  const runMigrationSlice = async (input: SliceInput): Promise<MigrationSlice> => {
    const context = Context.current();
    const endsAt = Math.min(Date.now() + sliceMs, input.notAfter ?? Infinity);
    const reached = context.info.heartbeatDetails as MigrationPosition | undefined;
    const { pagesPerSecond } = input;
    const report = (slice: MigrationSlice): Promise<void> =>
      store.report(input.runId, {
        phase: slice.position.phase,
        done: slice.done,
        total: slice.total,
        figures: slice.figures,
        pages_per_second: pagesPerSecond,
      });
    let reporting = Promise.resolve();
    let reportedAt = 0;
    const control: SliceControl = {
      signal: context.cancellationSignal,
      isOver: () => Date.now() >= endsAt,
      pace: createPace(pagesPerSecond, context.cancellationSignal),
      reached: (slice) => {
        context.heartbeat(slice.position);
        if (Date.now() < reportedAt + REPORT_EVERY_MS) return;
        reportedAt = Date.now();
        // One that fails is made up for by the next, at the end of the slice at the latest.
        reporting = reporting.then(() => report(slice)).catch(() => undefined);
      },
    };
    const slice = await find(input.name).slice(input.mode, reached ?? input.position, control);
    await reporting;
    await report(slice);
    return slice;
  };

  const pauseMigration = ({ runId, paused }: { runId: string; paused: boolean }): Promise<void> =>
    store.setPaused(runId, paused);

  const abandonMigration = ({
    name,
    mode,
    position,
  }: Pick<SliceInput, 'name' | 'mode' | 'position'>): Promise<void> => find(name).abandon(mode, position);

  const endMigration = ({
    runId,
    state,
    error,
  }: Pick<MigrationRun, 'state' | 'error'> & { runId: string }): Promise<void> =>
    store.finish(runId, { state, error });

  /** Whether there is anything to do, for a schedule. */
  const isMigrationPending = async ({ name }: { name: MigrationName }): Promise<boolean> =>
    (await find(name).pending()) !== null;

  return {
    beginMigration,
    runMigrationSlice,
    pauseMigration,
    abandonMigration,
    endMigration,
    isMigrationPending,
  };
}

export type MigrationActivities = ReturnType<typeof createMigrationActivities>;
