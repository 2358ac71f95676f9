import type { Db } from 'mongodb';
import type { RecordStepStore } from '../../../ports/migrations.js';
import { withMongoErrors } from '../mongo-errors.js';

/** Steps over our own records that are done, in collection `schema_steps`: one document each. */
export function createMongoRecordStepStore(db: Db): RecordStepStore {
  const steps = db.collection<{ _id: string; applied_at: Date }>('schema_steps');
  return withMongoErrors<RecordStepStore>({
    async applied() {
      return (await steps.find({}).sort({ _id: 1 }).toArray()).map(({ _id }) => _id);
    },
    async markApplied(step) {
      await steps.updateOne({ _id: step }, { $setOnInsert: { applied_at: new Date() } }, { upsert: true });
    },
  });
}
