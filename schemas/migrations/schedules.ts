/** What runs by the clock, as Temporal Schedules: the reconciler, retention, backups, and migrations in windows. */
import {
  backupScheduleId,
  migrationScheduleId,
  reconcileScheduleId,
  retainAlertsScheduleId,
} from '../ids.js';
import { taskQueues } from '../task-queues.js';
import { MIGRATIONS } from './migrations.js';
import type { MigrationName } from './migrations.js';

export const SCHEDULES = ['reconcile', 'retention', 'backup', ...MIGRATIONS] as const;
export type ScheduleName = (typeof SCHEDULES)[number];

/** What a schedule starts. */
export interface ScheduledWork {
  scheduleId: string;
  workflowType: string;
  taskQueue: string;
  args: unknown[];
  /** What Temporal's UI says of each run. */
  staticSummary: string;
}

export function reconcileWork(prefix: string): ScheduledWork {
  return {
    scheduleId: reconcileScheduleId(prefix),
    workflowType: 'reconcileDocuments',
    taskQueue: taskQueues(prefix).documents,
    args: [{ prefix }],
    staticSummary: 'comparison of the stores',
  };
}

export function retentionWork(
  prefix: string,
  { retentionDays, quarantineDays }: { retentionDays: number; quarantineDays: number },
): ScheduledWork {
  return {
    scheduleId: retainAlertsScheduleId(prefix),
    workflowType: 'retainAlerts',
    taskQueue: taskQueues(prefix).alerts,
    args: [{ prefix, retentionDays, ...(quarantineDays > 0 && { quarantineDays }) }],
    staticSummary: 'removal of old alerts',
  };
}

export function backupWork(prefix: string): ScheduledWork {
  return {
    scheduleId: backupScheduleId(prefix),
    workflowType: 'scheduledBackup',
    taskQueue: taskQueues(prefix).migrations,
    args: [{ prefix, vectors: true }],
    staticSummary: 'start of a backup',
  };
}

/** A window in which a migration runs; `unit` is what it counts. */
export interface MigrationWindow {
  name: MigrationName;
  unit: string;
  windowMinutes: number;
  pagesPerSecond: number | null;
}

export function windowWork(prefix: string, window: MigrationWindow): ScheduledWork {
  return {
    scheduleId: migrationScheduleId(prefix, window.name),
    workflowType: 'openMigrationWindow',
    taskQueue: taskQueues(prefix).migrations,
    args: [
      {
        prefix,
        name: window.name,
        unit: window.unit,
        windowMs: window.windowMinutes * 60_000,
        pagesPerSecond: window.pagesPerSecond,
      },
    ],
    staticSummary: `window of the migration ${window.name}`,
  };
}
