import type { ClaimStore, ContentClaim } from '../../../../activities/ports/files.js';

interface Claim {
  partition: string;
  digest: string;
  fileKey: string;
  fileId: string;
  holders: Set<string>;
}

/** Claims in a Map. */
export function createFakeClaimStore(): ClaimStore {
  const claims = new Map<string, Claim>();
  const toClaim = ({ partition, digest, fileKey, holders }: Claim): ContentClaim => ({
    partition,
    digest,
    fileKey,
    holders: [...holders],
  });
  return {
    async claim({ partition, digest, fileKey, fileId, taskId }) {
      const key = `${partition}\n${digest}`;
      const claim = claims.get(key) ?? { partition, digest, fileKey, fileId, holders: new Set() };
      if (claim.fileKey !== fileKey) return { existingFileId: claim.fileId };
      claim.holders.add(taskId);
      claims.set(key, claim);
      return null;
    },
    async release(taskIds) {
      for (const [key, claim] of claims) {
        for (const taskId of taskIds) claim.holders.delete(taskId);
        if (claim.holders.size === 0) claims.delete(key);
      }
    },
    async releaseFiles(fileKeys) {
      for (const [key, claim] of claims) if (fileKeys.includes(claim.fileKey)) claims.delete(key);
    },
    async releaseElsewhere(fileKey, partition) {
      for (const [key, claim] of claims)
        if (claim.fileKey === fileKey && claim.partition !== partition) claims.delete(key);
    },
    async listByFile(fileKey) {
      return [...claims.values()].filter((claim) => claim.fileKey === fileKey).map(toClaim);
    },
    async *scan() {
      for (const claim of [...claims.values()]) yield toClaim(claim);
    },
  };
}
