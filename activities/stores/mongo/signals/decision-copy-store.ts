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
  /** Unset in copies of earlier releases. */
  behind?: boolean;
}

/** Copies in collection `decision_copies`, one document each: the set is read, changed and written by revision. */
export function createMongoDecisionCopyStore(db: Db): DecisionCopyStore {
  const copies = db.collection<CopyDocument>('decision_copies');
  return withMongoErrors<DecisionCopyStore>({
    async read(watcher, version) {
      const document = await copies.findOne({ _id: `${version}/${watcher}` });
      if (document === null) return null;
      const { bytes, revision, at, behind = false } = document;
      return { bytes: Buffer.from(bytes.buffer.subarray(0, bytes.position)), revision, at, behind };
    },
    async write(watcher, version, { bytes, at, behind }, revision) {
      const _id = `${version}/${watcher}`;
      const change = { bytes: new Binary(bytes), at, behind, revision: revision + 1 };
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
    async setBehind(watcher, version, behind) {
      const _id = `${version}/${watcher}`;
      const kept = await copies.findOne({ _id }, { projection: { behind: 1 } });
      const was = kept?.behind === true;
      if (kept !== null && was !== behind) await copies.updateOne({ _id }, { $set: { behind } });
      return was;
    },
    async drop(watcher, version) {
      await copies.deleteOne({ _id: `${version}/${watcher}` });
    },
  });
}
