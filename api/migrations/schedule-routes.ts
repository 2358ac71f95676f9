import type { Migration } from '../../activities/ports/migrations.js';
import type { ScheduleState } from '../../activities/ports/schedules.js';
import { AppError } from '../../schemas/app-error.js';
import {
  RETENTION_SCHEDULES,
  SCHEDULES,
  backupWork,
  keptBy,
  reconcileWork,
  retentionWork,
  windowWork,
} from '../../schemas/migrations/schedules.js';
import type { RetentionSchedule, ScheduleName, ScheduledWork } from '../../schemas/migrations/schedules.js';
import {
  ScheduleBody,
  ScheduleList,
  ScheduleNote,
  ScheduleParams,
  SchedulePut,
} from '../../schemas/migrations/schedules-api.js';
import type { GatewayDeps } from '../gateway-deps.js';
import { empty, json, route } from '../http/route.js';
import type { Route } from '../http/route.js';

const TAG = 'Schedules';
const WINDOW_MINUTES = 180;
const CATCH_UP_MINUTES = 1;
/** The end of a window counts from when it should have begun, so a late start does no harm. */
const WINDOW_CATCH_UP_MINUTES = 10;

/** Those that are no migration. */
type Routine = 'reconcile' | RetentionSchedule | 'backup';

const TITLES: Record<Routine, string> = {
  reconcile: 'Removes chunks and bytes that no record refers to',
  'retention-tasks': 'Removes records of tasks that ended longer ago than TASK_RETENTION_DAYS',
  'retention-callbacks': 'Removes records of callbacks that ended longer ago than TASK_RETENTION_DAYS',
  retention: 'Removes alerts that are older than RETENTION_DAYS',
  'retention-quarantine': 'Gives up what is in quarantine for longer than QUARANTINE_RETENTION_DAYS',
  backup: 'Makes a backup in BACKUP_LOCATION',
};

function isRoutine(name: ScheduleName): name is Routine {
  return name in TITLES;
}

function isRetention(name: ScheduleName): name is RetentionSchedule {
  return (RETENTION_SCHEDULES as readonly string[]).includes(name);
}

/** What runs by the clock; administrators say when. */
export function scheduleRoutes({ adapters, config, workflows }: GatewayDeps): Route[] {
  const { migrations } = adapters.migrations;
  const { prefix } = config.temporal;

  const migrationOf = (name: ScheduleName): Migration | undefined =>
    migrations.find((migration) => migration.name === name);

  const titleOf = (name: ScheduleName): string | undefined =>
    isRoutine(name) ? TITLES[name] : migrationOf(name) && `Runs the migration ${name} in windows`;

  const row = async (name: ScheduleName): Promise<ScheduleBody> =>
    presentSchedule(name, titleOf(name) ?? '', await workflows.describeSchedule(name));

  const assertKnown = (name: ScheduleName): void => {
    if (titleOf(name) === undefined) throw new AppError('NOT_FOUND', `There is no migration ${name}.`);
  };

  const workOf = (name: ScheduleName, body: SchedulePut): ScheduledWork => {
    if (isRoutine(name)) {
      if (body.window_minutes !== undefined || body.pages_per_second !== undefined)
        throw new AppError('VALIDATION_ERROR', 'Only migrations run in windows and at a pace.');
      if (name === 'reconcile') return reconcileWork(prefix);
      if (name === 'backup') {
        if (adapters.backups.storage === null) throw new AppError('BACKUP_NOT_CONFIGURED');
        return backupWork(prefix);
      }
      const work = retentionWork(prefix, name, keptBy(config));
      if (work === null)
        throw new AppError('CONFLICT', `${name} removes nothing: its time is 0 days, or the proxy is off.`);
      return work;
    }
    const migration = migrationOf(name);
    if (migration === undefined) throw new AppError('NOT_FOUND', `There is no migration ${name}.`);
    return windowWork(prefix, {
      name,
      unit: migration.unit,
      windowMinutes: body.window_minutes ?? WINDOW_MINUTES,
      pagesPerSecond: body.pages_per_second ?? null,
    });
  };

  const pauseOrResume = (word: 'pause' | 'resume', summary: string) =>
    route({
      method: 'post',
      path: `/admin/schedules/{name}/${word}`,
      summary,
      tag: TAG,
      auth: 'admin',
      request: { params: ScheduleParams, body: ScheduleNote, bodyOptional: true },
      responses: { 202: { description: 'Asked for' } },
      errors: ['NOT_FOUND', 'SERVICE_UNAVAILABLE'],
      async handle({ principal }, { params: { name }, body }) {
        assertKnown(name);
        // Temporal replaces the note together with the state and keeps none that is not said again.
        const former = (await workflows.describeSchedule(name))?.note;
        const note = body.note ?? former ?? `${word}d by user ${principal.userId}`;
        await (word === 'pause' ? workflows.pauseSchedule(name, note) : workflows.resumeSchedule(name, note));
        return empty(202);
      },
    });

  return [
    route({
      method: 'get',
      path: '/admin/schedules',
      summary: 'What runs by the clock, and when next',
      tag: TAG,
      auth: 'admin',
      responses: { 200: { description: 'Schedules', schema: ScheduleList } },
      errors: ['SERVICE_UNAVAILABLE'],
      async handle() {
        const names = SCHEDULES.filter((name) => titleOf(name) !== undefined);
        return json(200, { schedules: await Promise.all(names.map(row)) });
      },
    }),
    route({
      method: 'put',
      path: '/admin/schedules/{name}',
      summary: 'Say when something runs; a migration runs in windows then, and stops at the end of each',
      tag: TAG,
      auth: 'admin',
      request: { params: ScheduleParams, body: SchedulePut },
      responses: { 200: { description: 'The schedule', schema: ScheduleBody } },
      errors: ['NOT_FOUND', 'CONFLICT', 'BACKUP_NOT_CONFIGURED', 'VALIDATION_ERROR', 'SERVICE_UNAVAILABLE'],
      async handle(_ctx, { params: { name }, body }) {
        const work = workOf(name, body);
        await workflows.setSchedule(work, {
          cron: body.cron,
          catchUpMinutes:
            migrationOf(name) === undefined
              ? CATCH_UP_MINUTES
              : Math.min(WINDOW_CATCH_UP_MINUTES, body.window_minutes ?? WINDOW_MINUTES),
          ...(body.paused === undefined ? {} : { paused: body.paused }),
          ...(body.note === undefined ? {} : { note: body.note }),
        });
        return json(200, await row(name));
      },
    }),
    route({
      method: 'delete',
      path: '/admin/schedules/{name}',
      summary: 'Remove the schedule of a migration or of backups; a run that goes on is not touched',
      tag: TAG,
      auth: 'admin',
      request: { params: ScheduleParams },
      responses: { 204: { description: 'Removed' } },
      errors: ['NOT_FOUND', 'CONFLICT', 'SERVICE_UNAVAILABLE'],
      async handle(_ctx, { params: { name } }) {
        assertKnown(name);
        if (name === 'reconcile' || isRetention(name))
          throw new AppError('CONFLICT', `The next worker that starts would make ${name} again: pause it.`);
        await workflows.removeSchedule(name);
        return empty(204);
      },
    }),
    pauseOrResume('pause', 'Start nothing by this schedule until it is resumed'),
    pauseOrResume('resume', 'Let a paused schedule go on'),
    route({
      method: 'post',
      path: '/admin/schedules/{name}/run',
      summary: 'Start now what the schedule starts, unless the last run still goes on',
      tag: TAG,
      auth: 'admin',
      request: { params: ScheduleParams },
      responses: { 202: { description: 'Asked for' } },
      errors: ['NOT_FOUND', 'SERVICE_UNAVAILABLE'],
      async handle(_ctx, { params: { name } }) {
        assertKnown(name);
        await workflows.runSchedule(name);
        return empty(202);
      },
    }),
  ];
}

function presentSchedule(name: ScheduleName, title: string, state: ScheduleState | null): ScheduleBody {
  if (state === null)
    return {
      name,
      title,
      set: false,
      cron: null,
      every_minutes: null,
      window_minutes: null,
      pages_per_second: null,
      paused: false,
      note: null,
      overlap: null,
      catch_up_minutes: null,
      running: false,
      last_run: null,
      last_result: null,
      next_runs: [],
    };
  const [given] = state.args as [{ windowMs?: number; pagesPerSecond?: number | null }?];
  return {
    name,
    title,
    set: true,
    cron: state.cron,
    every_minutes: state.everyMinutes,
    window_minutes: given?.windowMs === undefined ? null : given.windowMs / 60_000,
    pages_per_second: given?.pagesPerSecond ?? null,
    paused: state.paused,
    note: state.note,
    overlap: state.overlap,
    running: state.running,
    catch_up_minutes: state.catchUpMinutes,
    last_run: state.lastRun?.toISOString() ?? null,
    last_result: state.lastResult,
    next_runs: state.paused ? [] : state.nextRuns.map((time) => time.toISOString()),
  };
}
