import type { Db } from 'mongodb';
import { AppError } from '../../../../schemas/app-error.js';
import type { ClaimStore, ContentClaim } from '../../../ports/files.js';
import { isDuplicateKey, withMongoErrors } from '../mongo-errors.js';

interface ClaimDocument {
  /** Partition and digest: the unique key itself. */
  _id: string;
  partition: string;
  digest: string;
  file_key: string;
  file_id: string;
  /** Never empty: the claim goes with its last holder in one guarded delete. */
  holders: string[];
}

function toClaim({ partition, digest, file_key: fileKey, holders }: ClaimDocument): ContentClaim {
  return { partition, digest, fileKey, holders };
}

/** A claim can change hands between two calls of ours; so often in a row only under an attack. */
const ATTEMPTS = 20;

/** Claims on (partition, digest) in collection `claims`. */
export function createMongoClaimStore(db: Db): ClaimStore {
  const claims = db.collection<ClaimDocument>('claims');

  /** Compare and set, so that two releases at once cannot leave a claim without a holder. */
  const letGo = async (claim: ClaimDocument, leaving: ReadonlySet<string>): Promise<boolean> => {
    const unchanged = { _id: claim._id, holders: claim.holders };
    const remaining = claim.holders.filter((holder) => !leaving.has(holder));
    if (remaining.length === 0) return (await claims.deleteOne(unchanged)).deletedCount === 1;
    return (await claims.updateOne(unchanged, { $set: { holders: remaining } })).matchedCount === 1;
  };

  return withMongoErrors<ClaimStore>({
    async claim({ partition, digest, fileKey, fileId, taskId }) {
      const _id = `${partition}\n${digest}`;
      for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
        // Most are claimed for the first time.
        try {
          const fresh = { _id, partition, digest, file_key: fileKey, file_id: fileId, holders: [taskId] };
          await claims.insertOne(fresh);
          return null;
        } catch (error) {
          if (!isDuplicateKey(error)) throw error;
        }
        const shared = await claims.updateOne({ _id, file_key: fileKey }, { $addToSet: { holders: taskId } });
        if (shared.matchedCount === 1) return null;
        const holder = await claims.findOne({ _id });
        if (holder !== null && holder.file_key !== fileKey) return { existingFileId: holder.file_id };
      }
      throw new AppError(
        'CONFLICT',
        'The same content is being added and removed at this moment; try again.',
      );
    },
    async release(taskIds) {
      const leaving = new Set(taskIds);
      for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
        const held = await claims.find({ holders: { $in: [...leaving] } }).toArray();
        const results = await Promise.all(held.map((claim) => letGo(claim, leaving)));
        if (results.every(Boolean)) return;
      }
      throw new AppError('CONFLICT', 'A claim keeps changing while it is released.');
    },
    async releaseFiles(fileKeys) {
      await claims.deleteMany({ file_key: { $in: [...fileKeys] } });
    },
    async releaseElsewhere(fileKey, partition) {
      await claims.deleteMany({ file_key: fileKey, partition: { $ne: partition } });
    },
    async listByFile(fileKey) {
      return (await claims.find({ file_key: fileKey }).toArray()).map(toClaim);
    },
    async *scan() {
      for await (const claim of claims.find({}, { batchSize: 500 })) yield toClaim(claim);
    },
  });
}
