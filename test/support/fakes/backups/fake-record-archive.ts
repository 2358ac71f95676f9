import type { RecordArchive, StoredDocument } from '../../../../activities/ports/backups.js';
import { copyRecord } from '../copy-record.js';

/** Records of all collections in Maps. */
export function createFakeRecordArchive() {
  const collections = new Map<string, Map<string | number, StoredDocument>>();
  const of = (collection: string): Map<string | number, StoredDocument> => {
    const found = collections.get(collection) ?? new Map<string | number, StoredDocument>();
    collections.set(collection, found);
    return found;
  };
  const archive: RecordArchive = {
    estimate: async (collection) => of(collection).size,
    async page(collection, { after, size, upTo }) {
      const records = [...of(collection).values()].sort((one, other) => (one._id < other._id ? -1 : 1));
      return records
        .filter(({ _id }) => (after === null || _id > after) && (upTo === undefined || _id <= upTo))
        .slice(0, size)
        .map(copyRecord);
    },
    async getMany(collection, ids) {
      const found = ids.flatMap((id) => of(collection).get(id) ?? []);
      return new Map(found.map((record) => [record._id, copyRecord(record)]));
    },
    existing: async (collection, ids) => new Set(ids.filter((id) => of(collection).has(id))),
    async write(collection, records) {
      for (const record of records) of(collection).set(record._id, copyRecord(record));
    },
    async raiseCounter(name, value) {
      const present = Number(of('counters').get(name)?.['value'] ?? 0);
      of('counters').set(name, { _id: name, value: Math.max(present, value) });
    },
    async clear(collection) {
      for (const id of [...of(collection).keys()])
        if (collection !== 'users' || id !== 1) of(collection).delete(id);
    },
    hasRecords: async (collection) =>
      [...of(collection).keys()].some((id) => collection !== 'users' || id !== 1),
    encode: (record) => JSON.stringify(record),
    decode: (line) => JSON.parse(line) as StoredDocument,
  };
  return { archive, records: (collection: string) => [...of(collection).values()].map(copyRecord) };
}
