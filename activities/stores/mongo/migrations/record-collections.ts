import type { Db } from 'mongodb';
import type { RecordCollections, StoredRecord } from '../../../ports/migrations.js';
import { withMongoErrors } from '../mongo-errors.js';

interface RawDocument {
  _id: string | number;
  [field: string]: unknown;
}

/** One that was missing must still be. */
function asRead({ id, fields }: StoredRecord, names: readonly string[]) {
  return {
    _id: id,
    ...Object.fromEntries(
      names.map((name) => [name, name in fields ? { $eq: fields[name] } : { $exists: false }]),
    ),
  };
}

/** Records as they are stored, of any collection. */
export function createMongoRecordCollections(db: Db): RecordCollections {
  return withMongoErrors<RecordCollections>({
    estimate: (collection) => db.collection(collection).estimatedDocumentCount(),
    async page(collection, { after, size, fields }) {
      const found = await db
        .collection<RawDocument>(collection)
        .find(after === null ? {} : { _id: { $gt: after } })
        .project<RawDocument>(Object.fromEntries(['_id', ...fields].map((name) => [name, 1])))
        .sort({ _id: 1 })
        .limit(size)
        .toArray();
      return found.map(({ _id: id, ...rest }) => ({ id, fields: rest }));
    },
    async change(collection, fields, changes) {
      const { matchedCount } = await db.collection<RawDocument>(collection).bulkWrite(
        changes.map(({ record, set = {}, unset = [] }) => ({
          updateOne: {
            filter: asRead(record, fields),
            update: {
              ...(Object.keys(set).length > 0 && { $set: set }),
              ...(unset.length > 0 && { $unset: Object.fromEntries(unset.map((name) => [name, ''])) }),
            },
          },
        })),
        { ordered: false },
      );
      return matchedCount;
    },
  });
}
