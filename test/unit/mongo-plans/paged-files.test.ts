import { expect, test } from '@jest/globals';
import type { Db, Document } from 'mongodb';
import { createMongoFileStore } from '../../../activities/stores/mongo/documents/file-store.js';
import { ensureIndexes } from '../../../activities/stores/mongo/ensure-indexes.js';

interface Asked {
  filter: Document;
  sort: Document;
}

/** A server of nothing but indexes, which begins with those of an earlier release, and keeps what is asked of it. */
function openRecorder() {
  const indexes = new Map<string, Document[]>([['files', [{ partition: 1, 'live.relationship_id': 1 }]]]);
  const asked: Asked[] = [];
  const nameOf = (key: Document) => Object.entries(key).flat().join('_');
  const collection = (name: string) => ({
    createIndexes: async (wanted: { key: Document }[]) => {
      indexes.set(name, [...(indexes.get(name) ?? []), ...wanted.map(({ key }) => key)]);
    },
    indexes: async () => (indexes.get(name) ?? []).map((key) => ({ name: nameOf(key) })),
    dropIndex: async (dropped: string) => {
      indexes.set(
        name,
        indexes.get(name)!.filter((key) => nameOf(key) !== dropped),
      );
    },
    find: (filter: Document) => ({
      sort: (sort: Document) => {
        asked.push({ filter, sort });
        return { limit: () => ({ toArray: async () => [] }) };
      },
    }),
  });
  return { db: { collection } as unknown as Db, indexes, asked };
}

/** Whether an index holds what is asked for in one piece and in its order: what is equal in front, then the order. */
function servesPages({ filter, sort }: Asked, index: Document): boolean {
  const fields = Object.keys(index);
  const order = Object.keys(sort);
  const equal = fields.slice(0, fields.length - order.length);
  const isOrdered = fields.slice(equal.length).every((field, at) => field === order[at]);
  return isOrdered && equal.length > 1 && equal.every((field) => typeof filter[field] === 'string');
}

test('pages of the files of a relationship are read by one index, which takes the place of the earlier one', async () => {
  const { db, indexes, asked } = openRecorder();
  await ensureIndexes(db);
  const files = createMongoFileStore(db);
  await files.listRelated({ kind: 'all', userId: 1 }, 'library', 'thread/1', { limit: 500, after: 'm' });
  expect(asked).toHaveLength(1);
  const serving = indexes.get('files')!.filter((index) => servesPages(asked[0]!, index));
  expect(serving).toEqual([{ partition: 1, 'live.relationship_id': 1, file_id: 1 }]);
  expect(indexes.get('files')).not.toContainEqual({ partition: 1, 'live.relationship_id': 1 });
});
