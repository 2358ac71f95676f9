import { randomUUID } from 'node:crypto';
import type { FeedbackStore } from '../../../../activities/ports/evaluation.js';
import type { FeedbackRecord } from '../../../../schemas/retrieval/evaluation.js';
import { copyRecord } from '../copy-record.js';

/** Feedback in a list, in the order in which it came. */
export function createFakeFeedbackStore(): FeedbackStore {
  let kept: FeedbackRecord[] = [];
  /** Newest first. */
  const of = (partitionKey: string): FeedbackRecord[] =>
    kept.filter((one) => one.partition_key === partitionKey).reverse();
  return {
    async put(given, keep) {
      const { partition_key: key, user_id: user, answer_id: answer } = given;
      const now = new Date();
      const present = of(key).find((one) => one.user_id === user && one.answer_id === answer);
      const record: FeedbackRecord = {
        feedback_id: present?.feedback_id ?? randomUUID(),
        used_in: present?.used_in ?? [],
        created_at: present?.created_at ?? now,
        ...copyRecord(given),
        updated_at: now,
      };
      kept = present === undefined ? [...kept, record] : kept.map((one) => (one === present ? record : one));
      const beyond = of(key)
        .filter((one) => one.user_id === user)
        .slice(keep);
      kept = kept.filter((one) => !beyond.includes(one));
      return copyRecord(record);
    },
    async list(partitionKey, { rating, limit, offset }) {
      const found = of(partitionKey).filter((one) => rating === undefined || one.rating === rating);
      return found.slice(offset, offset + limit).map(({ feedback_id }) => ({ feedback_id }));
    },
    async getMany(partitionKey, feedbackIds) {
      return copyRecord(of(partitionKey).filter(({ feedback_id }) => feedbackIds.includes(feedback_id)));
    },
    async markUsed(partitionKey, feedbackIds, set) {
      kept = kept.map((one) =>
        one.partition_key === partitionKey && feedbackIds.includes(one.feedback_id)
          ? { ...one, used_in: [...new Set([...one.used_in, set])] }
          : one,
      );
    },
    async remove(partitionKey, feedbackId) {
      const before = kept.length;
      kept = kept.filter((one) => one.partition_key !== partitionKey || one.feedback_id !== feedbackId);
      return kept.length < before;
    },
    async removeUser(userId) {
      kept = kept.filter(({ user_id }) => user_id !== userId);
    },
    async removeAll(partitionKey) {
      kept = kept.filter(({ partition_key }) => partition_key !== partitionKey);
    },
  };
}
