import { BSON } from 'mongodb';
import type { RecordArchive, StoredDocument } from '../../../../activities/ports/backups.js';
import { copyRecord } from '../copy-record.js';

/** The unique keys of those collections that tests restore; one that lacks a field is not in it. */
const UNIQUE: Readonly<Record<string, readonly (readonly string[])[]>> = {
  users: [['token_digest'], ['external_user_id'], ['email_key']],
  files: [['name_key']],
  prompts: [['prompt_type', 'name']],
  alerts: [['watcher', 'identity']],
};

/** Records of all collections in Maps. */
export function createFakeRecordArchive() {
  const collections = new Map<string, Map<string | number, StoredDocument>>();
  const of = (collection: string): Map<string | number, StoredDocument> => {
    const found = collections.get(collection) ?? new Map<string | number, StoredDocument>();
    collections.set(collection, found);
    return found;
  };
  const isHeld = (collection: string, record: StoredDocument, fields: readonly string[]): boolean =>
    fields.every((field) => record[field] !== undefined) &&
    [...of(collection).values()].some(
      (other) => other._id !== record._id && fields.every((field) => other[field] === record[field]),
    );
  const archive: RecordArchive = {
    estimate: async (collection) => of(collection).size,
    async page(collection, { after, size, upTo }) {
      const records = [...of(collection).values()].sort((one, other) => (one._id < other._id ? -1 : 1));
      return records
        .filter(({ _id }) => (after === null || _id > after) && (upTo === undefined || Number(_id) <= upTo))
        .slice(0, size)
        .map(copyRecord);
    },
    async getMany(collection, ids) {
      const found = ids.flatMap((id) => of(collection).get(id) ?? []);
      return new Map(found.map((record) => [record._id, copyRecord(record)]));
    },
    existing: async (collection, ids) => new Set(ids.filter((id) => of(collection).has(id))),
    async matching(collection, values) {
      const found = [...of(collection).values()].filter((record) =>
        Object.entries(values).every(([field, value]) => record[field] === value),
      );
      return found.map(copyRecord);
    },
    async write(collection, records) {
      const refused = records.filter((record) => {
        const isTaken = (UNIQUE[collection] ?? []).some((fields) => isHeld(collection, record, fields));
        if (!isTaken) of(collection).set(record._id, copyRecord(record));
        return isTaken;
      });
      return refused.map(copyRecord);
    },
    async remove(collection, ids) {
      for (const id of ids) of(collection).delete(id);
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
    encode: (record) => BSON.EJSON.stringify(record),
    decode: (line) => BSON.EJSON.parse(line) as StoredDocument,
  };
  return { archive, records: (collection: string) => [...of(collection).values()].map(copyRecord) };
}
