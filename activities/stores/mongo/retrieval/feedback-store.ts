import { randomUUID } from 'node:crypto';
import type { Db } from 'mongodb';
import type { FeedbackRecord } from '../../../../schemas/retrieval/evaluation.js';
import type { FeedbackStore } from '../../../ports/evaluation.js';
import { withMongoErrors } from '../mongo-errors.js';

/** Sets that are remembered of one answer; the newest stay. */
const MAX_USES = 100;

/** The key makes what one user says of one answer one document. */
type FeedbackDocument = FeedbackRecord & { _id: string };

function fromDocument({ _id, ...rest }: FeedbackDocument): FeedbackRecord {
  return rest;
}

/** Feedback on answers in collection `answer_feedback`. */
export function createMongoFeedbackStore(db: Db): FeedbackStore {
  const feedback = db.collection<FeedbackDocument>('answer_feedback');
  return withMongoErrors<FeedbackStore>({
    async put(given, keep) {
      const { partition_key, user_id, answer_id, ...said } = given;
      const now = new Date();
      const stored = await feedback.findOneAndUpdate(
        { _id: `${partition_key}/${user_id}/${answer_id}` },
        {
          $set: { ...said, updated_at: now },
          $setOnInsert: {
            feedback_id: randomUUID(),
            partition_key,
            user_id,
            answer_id,
            used_in: [],
            created_at: now,
          },
        },
        { upsert: true, returnDocument: 'after' },
      );
      const beyond = await feedback
        .find({ partition_key, user_id }, { projection: { _id: 1 } })
        .sort({ created_at: -1 })
        .skip(keep)
        .toArray();
      if (beyond.length > 0) await feedback.deleteMany({ _id: { $in: beyond.map(({ _id }) => _id) } });
      return fromDocument(stored!);
    },
    async list(partitionKey, { rating, limit, offset }) {
      const filter = { partition_key: partitionKey, ...(rating === undefined ? {} : { rating }) };
      return feedback
        .find(filter, { projection: { _id: 0, feedback_id: 1 } })
        .sort({ created_at: -1 })
        .skip(offset)
        .limit(limit)
        .toArray();
    },
    async getMany(partitionKey, feedbackIds) {
      const found = await feedback
        .find({ partition_key: partitionKey, feedback_id: { $in: [...feedbackIds] } })
        .toArray();
      return found.map(fromDocument);
    },
    async markUsed(partitionKey, feedbackIds, set) {
      await feedback.updateMany(
        { partition_key: partitionKey, feedback_id: { $in: [...feedbackIds] }, used_in: { $ne: set } },
        { $push: { used_in: { $each: [set], $slice: -MAX_USES } } },
      );
    },
    async remove(partitionKey, feedbackId) {
      const { deletedCount } = await feedback.deleteOne({
        partition_key: partitionKey,
        feedback_id: feedbackId,
      });
      return deletedCount > 0;
    },
    async removeUser(userId) {
      await feedback.deleteMany({ user_id: userId });
    },
    async removeAll(partitionKey) {
      await feedback.deleteMany({ partition_key: partitionKey });
    },
  });
}
