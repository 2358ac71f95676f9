import { BSON, MongoBulkWriteError } from 'mongodb';
import type { Collection, Db } from 'mongodb';
import { AppError } from '../../../../schemas/app-error.js';
import type { RecordArchive, StoredDocument } from '../../../ports/backups.js';
import { createAlertMarks, writeOf } from '../signals/alert-marks.js';
import type { AlertDocument } from '../signals/alert-document.js';
import { DURABLE, countersOf } from '../counters.js';
import { isDuplicateKeyReply, withMongoErrors } from '../mongo-errors.js';

const { EJSON, calculateObjectSize } = BSON;

/** All but the administrator, who is there from the start and stays. */
const CLEARED: Readonly<Record<string, object>> = { users: { _id: { $gt: 1 } } };

/**
 * What no start puts there: neither the administrator, nor what was seeded and never edited. Built-in endpoints cannot
 * be edited, and those that an earlier release registered are not marked.
 */
const BEYOND_A_START: Readonly<Record<string, object>> = {
  ...CLEARED,
  model_endpoints: { seeded: { $ne: true }, provider: { $ne: 'builtin' } },
  presets: { seeded: { $ne: true } },
  prompts: { seeded: { $ne: true } },
};

/** Answers the records that a unique key refused. */
async function putUnordered(
  collection: Collection<StoredDocument>,
  records: readonly StoredDocument[],
): Promise<StoredDocument[]> {
  try {
    await collection.bulkWrite(
      records.map((replacement) => ({
        replaceOne: { filter: { _id: replacement._id }, replacement, upsert: true },
      })),
      { ordered: false },
    );
    return [];
  } catch (error) {
    if (!(error instanceof MongoBulkWriteError)) throw error;
    const refused = [error.writeErrors].flat();
    if (refused.length === 0 || !refused.every((one) => isDuplicateKeyReply(one))) throw error;
    if (error.result.getWriteConcernError() !== undefined) throw error;
    return refused.map(({ index }) => records[index]!);
  }
}

/** Records of all collections as they are stored. */
export function createMongoRecordArchive(db: Db): RecordArchive {
  const counters = countersOf(db);
  const marks = createAlertMarks(db);
  const of = (collection: string) => db.collection<StoredDocument>(collection, DURABLE);

  return withMongoErrors<RecordArchive>({
    estimate: (collection) => of(collection).estimatedDocumentCount(),
    async page(collection, { after, size, bytes = Infinity, upTo }) {
      const range = {
        ...(after === null ? {} : { $gt: after }),
        ...(upTo === undefined ? {} : { $lte: upTo }),
      };
      const filter = Object.keys(range).length === 0 ? {} : { _id: range };
      const page: StoredDocument[] = [];
      let held = 0;
      for await (const record of of(collection).find(filter).sort({ _id: 1 }).limit(size)) {
        page.push(record);
        held += calculateObjectSize(record);
        if (held >= bytes) break;
      }
      return page;
    },
    async getMany(collection, ids) {
      const found = await of(collection)
        .find({ _id: { $in: [...ids] } })
        .toArray();
      return new Map(found.map((record) => [record._id, record]));
    },
    async existing(collection, ids) {
      const found = await of(collection)
        .find({ _id: { $in: [...ids] } }, { projection: { _id: 1 } })
        .toArray();
      return new Set(found.map(({ _id }) => _id));
    },
    async matching(collection, values) {
      return await of(collection).find(values).toArray();
    },
    async write(collection, records) {
      if (records.length === 0) return [];
      const put = async () => {
        const refused = await putUnordered(of(collection), records);
        // By now another process that wrote one of these ids at the same moment is done: what it wrote is replaced.
        return refused.length === 0 ? [] : await putUnordered(of(collection), refused);
      };
      // The statistics count what the marks name.
      return collection === 'alerts'
        ? await marks.around(writeOf(records as unknown as AlertDocument[]), put)
        : await put();
    },
    async remove(collection, ids) {
      await of(collection).deleteMany({ _id: { $in: [...ids] } });
    },
    async raiseCounter(name, value) {
      await counters.updateOne({ _id: name }, { $max: { value } }, { upsert: true });
    },
    async clear(collection) {
      await of(collection).deleteMany(CLEARED[collection] ?? {});
    },
    async hasRecords(collection) {
      return (await of(collection).countDocuments(BEYOND_A_START[collection] ?? {}, { limit: 1 })) > 0;
    },
    encode: (record) => EJSON.stringify(record, { relaxed: true }),
    decode(line) {
      try {
        return EJSON.parse(line, { relaxed: true }) as StoredDocument;
      } catch (error) {
        throw new AppError('BACKUP_NOT_USABLE', 'A record of the backup cannot be read.', { cause: error });
      }
    },
  });
}
