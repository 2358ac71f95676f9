import type { ScheduleState, ScheduleSteering } from '../../../../activities/ports/schedules.js';
import { AppError } from '../../../../schemas/app-error.js';
import {
  backupScheduleId,
  migrationScheduleId,
  reconcileScheduleId,
  retainAlertsScheduleId,
  retainQuarantineScheduleId,
  retainRecordsScheduleId,
} from '../../../../schemas/ids.js';
import { MIGRATIONS } from '../../../../schemas/migrations/migrations.js';
import type { ScheduleName } from '../../../../schemas/migrations/schedules.js';

/** Schedules in memory; the clock starts none. */
export function createFakeSchedules(prefix: string) {
  const schedules = new Map<string, ScheduleState>();
  /** Ids of what was started at an operator's word. */
  const runs: string[] = [];
  const ids = new Map<ScheduleName, string>([
    ['reconcile', reconcileScheduleId(prefix)],
    ['retention', retainAlertsScheduleId(prefix)],
    ['retention-quarantine', retainQuarantineScheduleId(prefix)],
    ['retention-tasks', retainRecordsScheduleId(prefix, 'tasks')],
    ['retention-callbacks', retainRecordsScheduleId(prefix, 'callbacks')],
    ['backup', backupScheduleId(prefix)],
    ...MIGRATIONS.map((name) => [name, migrationScheduleId(prefix, name)] as const),
  ]);
  const idOf = (name: ScheduleName): string => ids.get(name)!;
  const find = (name: ScheduleName): ScheduleState => {
    const found = schedules.get(idOf(name));
    if (found === undefined) throw new AppError('NOT_FOUND', `There is no schedule ${name}.`);
    return found;
  };
  const steering: ScheduleSteering = {
    describeSchedule: async (name) => schedules.get(idOf(name)) ?? null,
    async setSchedule({ scheduleId, args }, { cron, catchUpMinutes, paused, note }) {
      if (cron.split(' ').some((field) => /^\d{3,}$/.test(field)))
        throw new AppError('VALIDATION_ERROR', 'Invalid schedule spec');
      const former = schedules.get(scheduleId);
      schedules.set(scheduleId, {
        cron,
        everyMinutes: null,
        args,
        catchUpMinutes,
        overlap: 'skip',
        running: false,
        lastRun: null,
        lastResult: null,
        paused: paused ?? former?.paused ?? false,
        note: note ?? former?.note ?? null,
        nextRuns: [new Date(Date.now() + 60_000)],
      });
    },
    async removeSchedule(name) {
      find(name);
      schedules.delete(idOf(name));
    },
    async pauseSchedule(name, note) {
      schedules.set(idOf(name), { ...find(name), paused: true, note });
    },
    async resumeSchedule(name, note) {
      schedules.set(idOf(name), { ...find(name), paused: false, note });
    },
    async runSchedule(name) {
      find(name);
      runs.push(idOf(name));
    },
  };
  return { schedules, runs, steering };
}
