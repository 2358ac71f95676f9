/** What the gateway asks of Temporal's Schedules; see `adapters.ts` for the rules that hold for all ports. */
import type { ScheduleName, ScheduledWork } from '../../schemas/migrations/schedules.js';

export interface ScheduleState {
  /** Null where it does not run by one that was set through us. */
  cron: string | null;
  everyMinutes: number | null;
  /** What the workflow is started with; null in place of what no key opens any more. */
  args: unknown[];
  paused: boolean;
  note: string | null;
  overlap: string;
  catchUpMinutes: number;
  running: boolean;
  lastRun: Date | null;
  /** What the last run that has ended counted; null where it counts nothing, failed or is not kept any more. */
  lastResult: Readonly<Record<string, number>> | null;
  nextRuns: Date[];
}

export interface ScheduleChange {
  cron: string;
  /** A start that was missed is made up for within so long. */
  catchUpMinutes: number;
  /** Unset: it stays as it is. */
  paused?: boolean;
  note?: string;
}

export interface ScheduleSteering {
  /** Null: there is none. @throws AppError SERVICE_UNAVAILABLE */
  describeSchedule(name: ScheduleName): Promise<ScheduleState | null>;
  /**
   * Creates it, or changes one that is there without losing a pause or a note that someone sets meanwhile.
   * @throws AppError VALIDATION_ERROR for a cron line that Temporal cannot read, CONFLICT, SERVICE_UNAVAILABLE
   */
  setSchedule(work: ScheduledWork, change: ScheduleChange): Promise<void>;
  /** Each @throws AppError NOT_FOUND, SERVICE_UNAVAILABLE */
  removeSchedule(name: ScheduleName): Promise<void>;
  pauseSchedule(name: ScheduleName, note: string): Promise<void>;
  resumeSchedule(name: ScheduleName, note: string): Promise<void>;
  /** One start now, unless the last one still runs. */
  runSchedule(name: ScheduleName): Promise<void>;
}
