import { beforeAll, describe, expect, test } from '@jest/globals';
import type { RecordCollections } from '../../../activities/ports/migrations.js';
import { useSubject } from '../subject.js';
import type { Subject } from '../subject.js';

export type Planted = { _id: string | number } & Record<string, unknown>;

/** With a way to put records there and to see them whole. */
export type OpenCollections = RecordCollections & {
  plant(collection: string, documents: readonly Planted[]): Promise<void>;
  read(collection: string): Promise<Planted[]>;
};

const FIELDS = ['old', 'new', 'at'];

/** What migrations of our own records rest on: pages by id, and no change over another's. */
export function recordCollectionsContract(subject: Subject<OpenCollections>): void {
  describe(`records beneath the stores (${subject.name})`, () => {
    const records = useSubject(subject);
    const page = (after: string | null, size = 10) =>
      records().page('things', { after, size, fields: FIELDS });

    beforeAll(async () => {
      await records().plant('things', [
        { _id: 'c', old: 3, other: 'x' },
        { _id: 'a', old: 1, at: new Date(7), other: 'y' },
        { _id: 'b', old: { deep: [1, { more: 2 }] }, new: null },
      ]);
    });

    test('pages by id and gives what was asked for, as it is', async () => {
      expect(await page(null, 2)).toEqual([
        { id: 'a', fields: { old: 1, at: new Date(7) } },
        { id: 'b', fields: { old: { deep: [1, { more: 2 }] }, new: null } },
      ]);
      expect(await page('b', 2)).toEqual([{ id: 'c', fields: { old: 3 } }]);
      expect(await page('c', 2)).toEqual([]);
      expect(await records().page('nothing', { after: null, size: 2, fields: ['old'] })).toEqual([]);
      expect(await records().estimate('things')).toBe(3);
      expect(await records().estimate('nothing')).toBe(0);
    });

    test('pages by numbers as well', async () => {
      await records().plant('numbers', [{ _id: 10 }, { _id: 9 }, { _id: 100 }]);
      const read = (after: number | null) => records().page('numbers', { after, size: 2, fields: ['old'] });
      expect((await read(null)).map(({ id }) => id)).toEqual([9, 10]);
      expect((await read(10)).map(({ id }) => id)).toEqual([100]);
    });

    test('changes what is as it was read, and leaves the rest alone', async () => {
      const [a, b, c] = await page(null);
      // Another process was there: a field that was missing, and one that had another value.
      await records().plant('changed', [
        { _id: 'a', old: 1, at: new Date(7), other: 'y' },
        { _id: 'b', old: { deep: [1, { more: 3 }] }, new: null },
        { _id: 'c', old: 3, new: 'theirs', other: 'x' },
      ]);
      const changes = [a!, b!, c!].map((record) => ({ record, set: { new: 'ours' }, unset: ['old'] }));
      expect(await records().change('changed', FIELDS, changes)).toBe(1);
      expect(await records().read('changed')).toEqual([
        { _id: 'a', new: 'ours', at: new Date(7), other: 'y' },
        { _id: 'b', old: { deep: [1, { more: 3 }] }, new: null },
        { _id: 'c', old: 3, new: 'theirs', other: 'x' },
      ]);
      // What is done is not as it was read any more.
      expect(await records().change('changed', FIELDS, changes)).toBe(0);
    });
  });
}
