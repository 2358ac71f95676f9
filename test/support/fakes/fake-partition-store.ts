import type { PartitionStore } from '../../../activities/ports.js';
import { AppError } from '../../../schemas/app-error.js';
import { inScope } from '../../../schemas/documents.js';
import type { Membership, PartitionRecord } from '../../../schemas/documents.js';
import { copyRecord } from './copy-record.js';

/** Partitions and memberships in memory. */
export const createFakePartitionStore = (): PartitionStore => {
  const partitions = new Map<string, PartitionRecord>();
  const members: Membership[] = [];
  return {
    async create({ partition, embedder, ownerId }) {
      if (partitions.has(partition))
        throw new AppError('PARTITION_EXISTS', undefined, { details: { partition } });
      const created_at = new Date();
      const record = { partition, description: null, embedder, created_by: ownerId, created_at };
      partitions.set(partition, record);
      members.push({ user_id: ownerId, partition, role: 'owner', added_at: created_at });
      return { ...record };
    },
    async get(partition) {
      return copyRecord(partitions.get(partition) ?? null);
    },
    async list(scope) {
      return [...partitions.values()]
        .filter(({ partition }) => inScope(scope, partition))
        .sort((a, b) => (a.partition < b.partition ? -1 : 1))
        .map((record) => ({ ...record }));
    },
    async memberships(userId) {
      return members
        .filter((member) => member.user_id === userId)
        .sort((a, b) => (a.partition < b.partition ? -1 : 1))
        .map((member) => ({ ...member }));
    },
    async roleOf(userId, partition) {
      return (
        members.find((member) => member.user_id === userId && member.partition === partition)?.role ?? null
      );
    },
  };
};
