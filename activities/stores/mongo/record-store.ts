import { randomUUID } from 'node:crypto';
import type { Db } from 'mongodb';
import type { RecordStore } from '../../ports/record-store.js';
import { DURABLE } from './counters.js';
import { isDuplicateKey, withMongoErrors } from './mongo-errors.js';

const OF_STORE = 'record_store';

/** The id in collection `record_store`, made by the first process that asks. No backup has it. */
export function createMongoRecordStore(db: Db): RecordStore {
  const identities = db.collection<{ _id: string; id: string }>('record_store', DURABLE);
  const read = async (): Promise<string> => {
    const made = () =>
      identities.findOneAndUpdate(
        { _id: OF_STORE },
        { $setOnInsert: { id: randomUUID() } },
        { upsert: true, returnDocument: 'after' },
      );
    const document = await made().catch((error: unknown) => {
      // Another process made it in the same moment.
      if (isDuplicateKey(error)) return made();
      throw error;
    });
    if (document === null) throw new Error('an upsert answers a document');
    return document.id;
  };
  return withMongoErrors<RecordStore>({ id: read });
}
