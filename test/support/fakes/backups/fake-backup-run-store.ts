import type { BackupRunStore } from '../../../../activities/ports/backups.js';
import { isFinalBackupState } from '../../../../schemas/backups/backups.js';
import type { BackupPart, BackupRun } from '../../../../schemas/backups/backups.js';
import { newOperation } from '../../../../schemas/run-record.js';
import { copyRecord } from '../copy-record.js';

/** Runs in a Map, in the order in which they began. */
export function createFakeBackupRunStore(): BackupRunStore {
  const runs = new Map<string, BackupRun>();
  const removed = new Set<string>();
  const parts = new Map<string, Map<number, BackupPart>>();
  const change = (runId: string, fields: (run: BackupRun) => Partial<BackupRun>): void => {
    const run = runs.get(runId);
    if (run === undefined || isFinalBackupState(run.state)) return;
    runs.set(runId, { ...run, ...copyRecord(fields(run)), updated_at: new Date() });
  };
  const newestFirst = (): BackupRun[] => [...runs.values()].reverse();
  return {
    async insert(given) {
      if (runs.has(given.run_id)) return;
      runs.set(given.run_id, { ...given, ...newOperation() });
    },
    get: async (runId) => copyRecord(runs.get(runId) ?? null),
    list: async (limit) => copyRecord(newestFirst()).slice(0, limit),
    async lastBackup() {
      const isThere = ({ kind, state, backup_id: id }: BackupRun): boolean =>
        kind === 'backup' && state === 'completed' && !removed.has(id);
      return copyRecord(newestFirst().find(isThere) ?? null);
    },
    async markRemoved(backupIds) {
      for (const id of backupIds) removed.add(id);
    },
    async report(runId, progress) {
      change(runId, ({ done }) => ({ ...progress, done: Math.max(done, progress.done) }));
    },
    async finish(runId, { state, error }) {
      change(runId, () => ({ state, error, finished_at: new Date() }));
    },
    async putPart(runId, number, part) {
      const written = parts.get(runId) ?? new Map<number, BackupPart>();
      parts.set(runId, written.set(number, copyRecord(part)));
    },
    async parts(runId) {
      const written = [...(parts.get(runId) ?? new Map<number, BackupPart>())];
      return written.sort(([one], [other]) => one - other).map(([, part]) => copyRecord(part));
    },
    async dropParts(runId) {
      parts.delete(runId);
    },
  };
}
