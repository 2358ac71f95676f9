import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import type { QuestionSetStore } from '../../../activities/ports/evaluation.js';
import { useSubject } from '../subject.js';
import type { Subject } from '../subject.js';
import { sampleQuestions } from './evaluation-samples.js';

/** What every store of question sets promises: numbers that count, versions that are seen whole or not at all. */
export function questionSetStoreContract(subject: Subject<QuestionSetStore>): void {
  describe(`question set store (${subject.name})`, () => {
    const store = useSubject(subject);
    const given = (name = 'main', partition_key: string = randomUUID()) => ({
      partition_key,
      name,
      note: null,
      created_by: '1',
    });

    test('a version holds its questions, in their order', async () => {
      const set = given();
      const questions = sampleQuestions(1_203);
      const version = await store().add(set, questions, 9);
      expect(version).toEqual({
        ...set,
        version_id: expect.any(String),
        version: 1,
        questions: 1_203,
        not_answerable: 1,
        created_at: expect.any(Date),
      });
      expect(await store().questions(version.version_id, 0, 2)).toEqual(questions.slice(0, 2));
      expect(await store().questions(version.version_id, 499, 3)).toEqual(questions.slice(499, 502));
      expect(await store().questions(version.version_id, 1_200, 100)).toEqual(questions.slice(1_200));
      expect(await store().questions('none', 0, 10)).toEqual([]);
    });

    test('versions count by set, also when several come at once', async () => {
      const set = given();
      const added = await Promise.all(
        [1, 2, 3, 4].map((count) => store().add(set, sampleQuestions(count), 9)),
      );
      expect(added.map(({ version }) => version).sort()).toEqual([1, 2, 3, 4]);
      const other = await store().add({ ...set, name: 'other' }, [], 9);
      expect(other).toMatchObject({ version: 1, questions: 0 });
      const versions = await store().versions(set.partition_key, 'main');
      expect(versions.map(({ version }) => version)).toEqual([4, 3, 2, 1]);
      for (const { version, questions, version_id } of versions) {
        expect(await store().get(set.partition_key, 'main', version)).toMatchObject({ version_id });
        expect(await store().questions(version_id, 0, 10)).toHaveLength(questions);
      }
      expect(await store().get(set.partition_key, 'main', null)).toEqual(versions[0]);
      expect(await store().get(set.partition_key, 'main', 5)).toBeNull();
      expect(await store().get(randomUUID(), 'main', null)).toBeNull();
    });

    test('one that follows a version is a conflict where another has followed it', async () => {
      const set = given();
      const add = (after: number | null) => store().add(set, sampleQuestions(2), 9, after);
      expect(await add(null)).toMatchObject({ version: 1 });
      await expect(add(null)).rejects.toMatchObject({ code: 'CONFLICT' });
      const both = await Promise.allSettled([add(1), add(1)]);
      expect(both.filter(({ status }) => status === 'fulfilled').length).toBeLessThanOrEqual(1);
      const [newest] = await store().versions(set.partition_key, 'main');
      expect(await add(newest!.version)).toMatchObject({ version: newest!.version + 1 });
      await expect(add(newest!.version)).rejects.toMatchObject({ code: 'CONFLICT' });
    });

    test('lists the newest of each set of a partition, by name', async () => {
      const set = given('b');
      for (const name of ['b', 'a', 'b']) await store().add({ ...set, name }, sampleQuestions(2), 9);
      await store().add(given('c'), sampleQuestions(1), 9);
      const listed = await store().list(set.partition_key);
      expect(listed.map(({ name, version }) => [name, version])).toEqual([
        ['a', 1],
        ['b', 2],
      ]);
    });

    test('keeps so many versions, and goes on counting', async () => {
      const set = given();
      const first = await store().add(set, sampleQuestions(2), 2);
      for (let turn = 0; turn < 3; turn += 1) await store().add(set, sampleQuestions(2), 2);
      expect((await store().versions(set.partition_key, 'main')).map(({ version }) => version)).toEqual([
        4, 3,
      ]);
      expect(await store().questions(first.version_id, 0, 10)).toEqual([]);
    });

    test('removes a set, and all of a partition, with their questions', async () => {
      const set = given();
      const removed = await store().add(set, sampleQuestions(2), 9);
      const kept = await store().add({ ...set, name: 'kept' }, sampleQuestions(2), 9);
      const foreign = await store().add(given(), sampleQuestions(2), 9);
      expect(await store().remove(set.partition_key, 'main')).toBe(true);
      expect(await store().remove(set.partition_key, 'main')).toBe(false);
      expect(await store().questions(removed.version_id, 0, 10)).toEqual([]);
      expect(await store().questions(kept.version_id, 0, 10)).toHaveLength(2);
      await store().removeAll(set.partition_key);
      expect(await store().list(set.partition_key)).toEqual([]);
      expect(await store().questions(kept.version_id, 0, 10)).toEqual([]);
      expect(await store().questions(foreign.version_id, 0, 10)).toHaveLength(2);
    });
  });
}
