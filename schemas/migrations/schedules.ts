/** What runs by the clock, as Temporal Schedules: the reconciler, retention, backups, and migrations in windows. */
import {
  backupScheduleId,
  migrationScheduleId,
  reconcileScheduleId,
  retainAlertsScheduleId,
  retainQuarantineScheduleId,
  retainRecordsScheduleId,
} from '../ids.js';
import { taskQueues } from '../task-queues.js';
import { MIGRATIONS } from './migrations.js';
import type { MigrationName } from './migrations.js';

/** One for each kind of record that goes by its age. */
export const RETENTION_SCHEDULES = [
  'retention-tasks',
  'retention-callbacks',
  // That of the alerts: its name is older than the others.
  'retention',
  'retention-quarantine',
] as const;
export type RetentionSchedule = (typeof RETENTION_SCHEDULES)[number];

export const SCHEDULES = ['reconcile', ...RETENTION_SCHEDULES, 'backup', ...MIGRATIONS] as const;
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

/** How long what goes by its age is kept, in days; 0: for good. Signals are null where no worker serves them. */
export interface Kept {
  tasks: number | null;
  signals: { alerts: number; quarantine: number } | null;
}

/** Null: nothing goes, so there is nothing to start. */
export function retentionWork(prefix: string, name: RetentionSchedule, kept: Kept): ScheduledWork | null {
  switch (name) {
    case 'retention-tasks':
      return kept.tasks === null ? null : recordsWork(prefix, 'tasks', kept.tasks);
    case 'retention-callbacks':
      return kept.tasks === null ? null : recordsWork(prefix, 'callbacks', kept.tasks);
    case 'retention':
      return (kept.signals?.alerts ?? 0) === 0
        ? null
        : {
            scheduleId: retainAlertsScheduleId(prefix),
            workflowType: 'retainAlerts',
            taskQueue: taskQueues(prefix).alerts,
            args: [{ prefix, retentionDays: kept.signals?.alerts }],
            staticSummary: 'removal of old alerts',
          };
    case 'retention-quarantine':
      return (kept.signals?.quarantine ?? 0) === 0
        ? null
        : {
            scheduleId: retainQuarantineScheduleId(prefix),
            workflowType: 'retainQuarantine',
            taskQueue: taskQueues(prefix).alerts,
            args: [{ prefix, quarantineDays: kept.signals?.quarantine }],
            staticSummary: 'giving up of what is in quarantine for too long',
          };
  }
}

function recordsWork(prefix: string, of: 'tasks' | 'callbacks', retentionDays: number): ScheduledWork {
  return {
    scheduleId: retainRecordsScheduleId(prefix, of),
    workflowType: 'retainRecords',
    taskQueue: taskQueues(prefix).documents,
    args: [{ prefix, of, retentionDays }],
    staticSummary: `removal of old records of ${of}`,
  };
}

/** What a configuration keeps. Without SECRETS_KEY no worker serves the queue of the signals. */
export function keptBy(config: {
  services: { documents: boolean; proxy: boolean };
  documents: { taskRetentionDays: number };
  proxy: { retentionDays: number; quarantineDays: number };
  secretsKey: string | null;
}): Kept {
  const { retentionDays: alerts, quarantineDays: quarantine } = config.proxy;
  return {
    tasks: config.services.documents ? config.documents.taskRetentionDays : null,
    signals: config.services.proxy && config.secretsKey !== null ? { alerts, quarantine } : null,
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
