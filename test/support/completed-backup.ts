import type { BackupRun } from '../../schemas/backups/backups.js';

/** A backup that has come to its end, begun at a time. */
export function completedBackup(startedAt: Date): BackupRun {
  return {
    run_id: 'b',
    kind: 'backup',
    backup_id: '20260131T235959Z-0a1b2c3d',
    state: 'completed',
    phase: 'done',
    done: 1,
    total: 1,
    figures: {},
    started_by: 'schedule',
    error: null,
    started_at: startedAt,
    updated_at: new Date(),
    finished_at: new Date(),
  };
}
