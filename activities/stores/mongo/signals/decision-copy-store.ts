import { Binary } from 'mongodb';
import type { Db } from 'mongodb';
import type { DecisionCopyStore } from '../../../ports/signals.js';
import { isDuplicateKey, withMongoErrors } from '../mongo-errors.js';

interface CopyDocument {
  /** `v3/<watcher>` */
  _id: string;
  bytes: Binary;
  /** Counts the changes, from 1. */
  revision: number;
  at: Date;
}

/** Copies in collection `decision_copies`, one document each: the set is read, changed and written by revision. */
export function createMongoDecisionCopyStore(db: Db): DecisionCopyStore {
  const copies = db.collection<CopyDocument>('decision_copies');
  return withMongoErrors<DecisionCopyStore>({
    async read(watcher, version) {
      const document = await copies.findOne({ _id: `${version}/${watcher}` });
      if (document === null) return null;
      const { bytes, revision, at } = document;
      return { bytes: Buffer.from(bytes.buffer.subarray(0, bytes.position)), revision, at };
    },
    async write(watcher, version, { bytes, at }, revision) {
      const _id = `${version}/${watcher}`;
      const change = { bytes: new Binary(bytes), at, revision: revision + 1 };
      if (revision > 0) {
        const { matchedCount } = await copies.updateOne({ _id, revision }, { $set: change });
        return matchedCount === 1;
      }
      try {
        await copies.insertOne({ _id, ...change });
        return true;
      } catch (error) {
        if (isDuplicateKey(error)) return false;
        throw error;
      }
    },
    async drop(watcher, version) {
      await copies.deleteOne({ _id: `${version}/${watcher}` });
    },
  });
}
