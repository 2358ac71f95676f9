import type { Db } from 'mongodb';
import { MIGRATION_MODES, MIGRATIONS } from '../../../../schemas/migrations/migrations.js';
import type { MigrationRun, MigrationState } from '../../../../schemas/migrations/migrations.js';
import { endedNow, newOperation } from '../../../../schemas/run-record.js';
import type { MigrationStore } from '../../../ports/migrations.js';
import { withMongoErrors } from '../mongo-errors.js';

type MigrationDocument = Omit<MigrationRun, 'run_id'> & { _id: string };

const OPEN: MigrationState[] = ['running', 'paused'];

function fromDocument({ _id, ...rest }: MigrationDocument): MigrationRun {
  return { run_id: _id, ...rest };
}

/** Runs of migrations in collection `migrations`. There are some dozens of them. */
export function createMongoMigrationStore(db: Db): MigrationStore {
  const runs = db.collection<MigrationDocument>('migrations');
  const newestFirst = { started_at: -1 } as const;
  return withMongoErrors<MigrationStore>({
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
    async latest() {
      const found = await Promise.all(
        MIGRATIONS.flatMap((name) =>
          MIGRATION_MODES.map((mode) => runs.findOne({ name, mode }, { sort: newestFirst })),
        ),
      );
      return found.flatMap((document) => (document === null ? [] : [fromDocument(document)]));
    },
    async list(name, limit) {
      return (await runs.find({ name }).sort(newestFirst).limit(limit).toArray()).map(fromDocument);
    },
    async report(runId, { done, ...rest }) {
      await runs.updateOne(
        { _id: runId, state: { $in: OPEN } },
        { $set: { ...rest, updated_at: new Date() }, $max: { done } },
      );
    },
    async setPaused(runId, paused) {
      await runs.updateOne(
        { _id: runId, state: { $in: OPEN } },
        { $set: { state: paused ? 'paused' : 'running', updated_at: new Date() } },
      );
    },
    async finish(runId, { state, error }) {
      await runs.updateOne({ _id: runId, state: { $in: OPEN } }, { $set: { state, error, ...endedNow() } });
    },
  });
}
