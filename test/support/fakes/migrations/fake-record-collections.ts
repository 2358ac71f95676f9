import { isDeepStrictEqual } from 'node:util';
import type { RecordCollections } from '../../../../activities/ports/migrations.js';
import { copyRecord } from '../copy-record.js';

type Raw = { _id: string | number } & Record<string, unknown>;

function byId(a: Raw, b: Raw): number {
  return a._id < b._id ? -1 : 1;
}

/** Documents in memory; `plant` puts some there, as a release before would have written them. */
export function createFakeRecordCollections() {
  const collections = new Map<string, Map<string | number, Raw>>();
  const open = (name: string): Map<string | number, Raw> => {
    const present = collections.get(name) ?? new Map<string | number, Raw>();
    collections.set(name, present);
    return present;
  };
  const pick = (raw: Raw, fields: readonly string[]): Record<string, unknown> =>
    Object.fromEntries(fields.flatMap((field) => (field in raw ? [[field, raw[field]]] : [])));
  const records: RecordCollections = {
    estimate: async (collection) => open(collection).size,
    async page(collection, { after, size, fields }) {
      return [...open(collection).values()]
        .filter(({ _id }) => after === null || _id > after)
        .sort(byId)
        .slice(0, size)
        .map((raw) => ({ id: raw._id, fields: copyRecord(pick(raw, fields)) }));
    },
    async change(collection, fields, changes) {
      let matched = 0;
      for (const { record, set = {}, unset = [] } of changes) {
        const raw = open(collection).get(record.id);
        if (raw === undefined || !isDeepStrictEqual(pick(raw, fields), record.fields)) continue;
        Object.assign(raw, copyRecord(set));
        for (const field of unset) delete raw[field];
        matched += 1;
      }
      return matched;
    },
  };
  return {
    ...records,
    async plant(collection: string, documents: readonly Raw[]): Promise<void> {
      for (const document of documents) open(collection).set(document._id, copyRecord(document));
    },
    async read(collection: string): Promise<Raw[]> {
      return [...open(collection).values()].sort(byId).map(copyRecord);
    },
  };
}
