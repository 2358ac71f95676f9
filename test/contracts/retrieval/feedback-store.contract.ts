import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import type { FeedbackStore, NewFeedback } from '../../../activities/ports/evaluation.js';
import { until } from '../../support/until.js';
import { useSubject } from '../subject.js';
import type { Subject } from '../subject.js';
import { sampleFeedback } from './evaluation-samples.js';

/** What every store of feedback promises: one word of each user on an answer, and no more than so many of a user. */
export function feedbackStoreContract(subject: Subject<FeedbackStore>): void {
  describe(`feedback store (${subject.name})`, () => {
    const store = useSubject(subject);
    /** Each a millisecond later than the one before. */
    const put = async (given: NewFeedback, keep = 99) => {
      const stored = await store().put(given, keep);
      const at = stored.created_at.getTime();
      await until('a millisecond is over', async () => Date.now() > at, { everyMs: 1 });
      return stored;
    };
    const listed = async (partitionKey: string) =>
      (await store().list(partitionKey, { limit: 99, offset: 0 })).map(({ feedback_id }) => feedback_id);

    test('is kept as it was given', async () => {
      const given = sampleFeedback();
      const stored = await put(given);
      expect(stored).toEqual({
        ...given,
        feedback_id: expect.any(String),
        used_in: [],
        created_at: expect.any(Date),
        updated_at: expect.any(Date),
      });
      expect(await store().getMany(given.partition_key, [stored.feedback_id, 'none'])).toEqual([stored]);
      expect(await store().getMany(randomUUID(), [stored.feedback_id])).toEqual([]);
    });

    test('a user who thinks again has one word on an answer; another user has another', async () => {
      const given = sampleFeedback();
      const first = await put(given);
      await store().markUsed(given.partition_key, [first.feedback_id], 'main');
      await store().markUsed(given.partition_key, [first.feedback_id], 'main');
      const again = await put({ ...given, rating: 'down', comment: 'Wrong river.' });
      const { feedback_id, created_at } = first;
      expect(again).toMatchObject({ feedback_id, created_at, rating: 'down', used_in: ['main'] });
      const other = await put({ ...given, user_id: 8 });
      expect(await listed(given.partition_key)).toEqual([other.feedback_id, feedback_id]);
      expect(await listed(randomUUID())).toEqual([]);
    });

    test('lists by rating and in pages, the newest first', async () => {
      const given = sampleFeedback();
      const ids: string[] = [];
      for (const rating of ['up', 'down', 'up'] as const)
        ids.unshift((await put({ ...given, rating, answer_id: randomUUID() })).feedback_id);
      const page = async (options: Parameters<FeedbackStore['list']>[1]) =>
        (await store().list(given.partition_key, options)).map(({ feedback_id }) => feedback_id);
      expect(await page({ limit: 2, offset: 0 })).toEqual(ids.slice(0, 2));
      expect(await page({ limit: 2, offset: 2 })).toEqual(ids.slice(2));
      expect(await page({ rating: 'down', limit: 9, offset: 0 })).toEqual([ids[1]]);
    });

    test('keeps so many of a user', async () => {
      const given = sampleFeedback();
      const other = await put({ ...given, user_id: 8 });
      const ids: string[] = [];
      for (let turn = 0; turn < 3; turn += 1)
        ids.unshift((await put({ ...given, answer_id: randomUUID() }, 2)).feedback_id);
      expect(await listed(given.partition_key)).toEqual([...ids.slice(0, 2), other.feedback_id]);
    });

    test('removes one, those of a user, and all of a partition', async () => {
      const given = sampleFeedback({ user_id: 1_000_007 });
      const first = await put(given);
      const second = await put({ ...given, answer_id: randomUUID() });
      const other = await put({ ...given, user_id: 1_000_008 });
      expect(await store().remove(randomUUID(), first.feedback_id)).toBe(false);
      expect(await store().remove(given.partition_key, first.feedback_id)).toBe(true);
      expect(await store().remove(given.partition_key, first.feedback_id)).toBe(false);
      expect(await listed(given.partition_key)).toEqual([other.feedback_id, second.feedback_id]);
      await store().removeUser(given.user_id);
      expect(await listed(given.partition_key)).toEqual([other.feedback_id]);
      const foreign = sampleFeedback();
      const kept = await put(foreign);
      await store().removeAll(given.partition_key);
      expect(await listed(given.partition_key)).toEqual([]);
      expect(await listed(foreign.partition_key)).toEqual([kept.feedback_id]);
    });
  });
}
