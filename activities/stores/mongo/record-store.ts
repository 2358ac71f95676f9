import { randomUUID } from 'node:crypto';
import type { Db } from 'mongodb';
import type { RecordStore } from '../../ports/record-store.js';
import { DURABLE } from './counters.js';
import { upserted, withMongoErrors } from './mongo-errors.js';

const OF_STORE = 'record_store';

/** The id in collection `record_store`, made by the first process that asks. No backup has it. */
export function createMongoRecordStore(db: Db): RecordStore {
  const identities = db.collection<{ _id: string; id: string }>('record_store', DURABLE);
  const read = async (): Promise<string> => {
    const { id } = await upserted(() =>
      identities.findOneAndUpdate(
        { _id: OF_STORE },
        { $setOnInsert: { id: randomUUID() } },
        { upsert: true, returnDocument: 'after' },
      ),
    );
    return id;
  };
  return withMongoErrors<RecordStore>({ id: read });
}
