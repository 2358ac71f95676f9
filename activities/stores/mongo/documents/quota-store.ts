import type { Db } from 'mongodb';
import type { QuotaStore } from '../../../ports/users.js';
import { withMongoErrors } from '../mongo-errors.js';

/** The fields of a user's document that are about its quota. */
interface QuotaDocument {
  _id: number;
  pending_tasks?: string[];
  quota_turn?: number;
}

const FIELDS = { projection: { pending_tasks: 1, quota_turn: 1 } } as const;

/** Quota reservations inside collection `users`: the list and its bound are one document, so one update keeps both. */
export function createMongoQuotaStore(db: Db): QuotaStore {
  const users = db.collection<QuotaDocument>('users');
  return withMongoErrors<QuotaStore>({
    async pending(userId) {
      const document = await users.findOne({ _id: userId }, FIELDS);
      return { taskIds: document?.pending_tasks ?? [], turn: document?.quota_turn ?? 0 };
    },
    async reserve({ userId, taskId, room, turn }) {
      if (room > 0) {
        const { matchedCount } = await users.updateOne(
          {
            _id: userId,
            pending_tasks: { $ne: taskId },
            // A list of fewer than `room` has nothing at this place.
            [`pending_tasks.${room - 1}`]: { $exists: false },
            quota_turn: turn === 0 ? { $exists: false } : turn,
          },
          { $push: { pending_tasks: taskId } },
        );
        if (matchedCount === 1) return 'reserved';
      }
      const document = await users.findOne({ _id: userId }, FIELDS);
      if (document?.pending_tasks?.includes(taskId) === true) return 'reserved';
      return (document?.quota_turn ?? 0) === turn ? 'full' : 'changed';
    },
    async release(taskIds) {
      const held = { pending_tasks: { $in: [...taskIds] } };
      await users.updateMany(held, { $pull: held, $inc: { quota_turn: 1 } });
    },
    async inherit(taskId, heir) {
      await users.updateOne({ pending_tasks: taskId }, { $set: { 'pending_tasks.$': heir } });
    },
    async *scan() {
      for await (const { _id, pending_tasks } of users.find(
        { 'pending_tasks.0': { $exists: true } },
        { ...FIELDS, batchSize: 500 },
      ))
        yield { userId: _id, taskIds: pending_tasks ?? [] };
    },
  });
}
