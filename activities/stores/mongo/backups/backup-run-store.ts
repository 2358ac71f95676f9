import type { Db } from 'mongodb';
import type { BackupPart, BackupRun } from '../../../../schemas/backups/backups.js';
import { endedNow, newOperation } from '../../../../schemas/run-record.js';
import type { BackupRunStore } from '../../../ports/backups.js';
import { withMongoErrors } from '../mongo-errors.js';

type RunDocument = Omit<BackupRun, 'run_id'> & { _id: string; is_removed?: boolean };

type PartDocument = BackupPart & { _id: string; run_id: string; number: number };

function fromDocument({ _id, is_removed: _removed, ...rest }: RunDocument): BackupRun {
  return { run_id: _id, ...rest };
}

/** Runs in collection `backup_runs`; what a run has written so far in `backup_parts`. */
export function createMongoBackupRunStore(db: Db): BackupRunStore {
  const runs = db.collection<RunDocument>('backup_runs');
  const parts = db.collection<PartDocument>('backup_parts');
  const newestFirst = { started_at: -1 } as const;
  return withMongoErrors<BackupRunStore>({
    async insert({ run_id, ...given }) {
      await runs.updateOne(
        { _id: run_id },
        { $setOnInsert: { ...given, ...newOperation() } },
        { upsert: true },
      );
    },
    async get(runId) {
      const found = await runs.findOne({ _id: runId });
      return found === null ? null : fromDocument(found);
    },
    async list(limit) {
      return (await runs.find({}).sort(newestFirst).limit(limit).toArray()).map(fromDocument);
    },
    async lastBackup() {
      const found = await runs.findOne(
        { kind: 'backup', state: 'completed', is_removed: { $exists: false } },
        { sort: newestFirst },
      );
      return found === null ? null : fromDocument(found);
    },
    async markRemoved(backupIds) {
      await runs.updateMany(
        { kind: 'backup', backup_id: { $in: [...backupIds] } },
        { $set: { is_removed: true } },
      );
    },
    async report(runId, { done, ...rest }) {
      await runs.updateOne(
        { _id: runId, state: 'running' },
        { $set: { ...rest, updated_at: new Date() }, $max: { done } },
      );
    },
    async finish(runId, { state, error }) {
      await runs.updateOne({ _id: runId, state: 'running' }, { $set: { state, error, ...endedNow() } });
    },
    async putPart(runId, number, written) {
      const _id = `${runId}/${number}`;
      await parts.replaceOne({ _id }, { run_id: runId, number, ...written }, { upsert: true });
    },
    async parts(runId) {
      const found = await parts.find({ run_id: runId }).sort({ number: 1 }).toArray();
      return found.map(({ _id, run_id: _run, number: _number, ...part }) => part);
    },
    async dropParts(runId) {
      await parts.deleteMany({ run_id: runId });
    },
  });
}
