import type { Db } from 'mongodb';
import type { WorkerRecord } from '../../../../schemas/documents/tasks.js';
import type { WorkerStore } from '../../../ports/tasks.js';
import { withMongoErrors } from '../mongo-errors.js';

type WorkerDocument = Omit<WorkerRecord, 'worker_id'> & { _id: string };

interface RestartDocument {
  /** The pool. */
  _id: string;
  asked_at: Date;
}

/**
 * Worker processes in collection `workers` (forgotten after a day of silence), requested restarts in `worker_restarts`.
 */
export function createMongoWorkerStore(db: Db): WorkerStore {
  const workers = db.collection<WorkerDocument>('workers');
  const restarts = db.collection<RestartDocument>('worker_restarts');
  return withMongoErrors<WorkerStore>({
    async report({ worker_id, ...rest }) {
      await workers.replaceOne({ _id: worker_id }, rest, { upsert: true });
    },
    async withdraw(workerId) {
      await workers.deleteOne({ _id: workerId });
    },
    async list(since) {
      const documents = await workers.find({ seen_at: { $gte: since } }).toArray();
      return documents.map(({ _id, ...rest }) => ({ worker_id: _id, ...rest }));
    },
    async requestRestart(pool) {
      await restarts.updateOne({ _id: pool }, { $set: { asked_at: new Date() } }, { upsert: true });
    },
    async restarts() {
      const documents = await restarts.find().toArray();
      return new Map(documents.map(({ _id, asked_at }) => [_id, asked_at]));
    },
  });
}
