import { randomUUID } from 'node:crypto';
import type { PartitionStore } from '../../../../activities/ports/partitions.js';
import { AppError } from '../../../../schemas/app-error.js';
import { PARTITION_DEFAULTS } from '../../../../schemas/documents/partitions.js';
import { inScope } from '../../../../schemas/documents/users.js';
import type { PartitionRecord } from '../../../../schemas/documents/partitions.js';
import type { Membership } from '../../../../schemas/documents/users.js';
import { copyRecord } from '../copy-record.js';

/** Partitions and memberships in memory. */
export function createFakePartitionStore(): PartitionStore {
  const partitions = new Map<string, PartitionRecord>();
  const deleted = new Map<string, PartitionRecord>();
  let members: Membership[] = [];
  const memberOf = (userId: number, partition: string): Membership | undefined =>
    members.find((member) => member.user_id === userId && member.partition === partition);
  /** The member, who may step down or leave. */
  const replaceable = (userId: number, partition: string): Membership => {
    const member = memberOf(userId, partition);
    if (member === undefined) throw new AppError('MEMBERSHIP_NOT_FOUND');
    const others = members.filter((other) => other.partition === partition && other.user_id !== userId);
    if (member.role === 'owner' && !others.some(({ role }) => role === 'owner'))
      throw new AppError('LAST_OWNER');
    return member;
  };
  return {
    async create({ partition, embedder, ownerId }) {
      if (partitions.has(partition))
        throw new AppError('PARTITION_EXISTS', undefined, { details: { partition } });
      if (deleted.has(partition))
        throw new AppError('CONFLICT', 'The partition is being deleted; try again.');
      const created_at = new Date();
      const record = {
        ...PARTITION_DEFAULTS,
        partition,
        partition_key: randomUUID(),
        embedder,
        created_by: ownerId,
        created_at,
        swap: null,
        swapped_from: [],
      };
      partitions.set(partition, record);
      members.push({ user_id: ownerId, partition, role: 'owner', added_at: created_at });
      return copyRecord(record);
    },
    async get(partition) {
      return copyRecord(partitions.get(partition) ?? null);
    },
    async list(scope, names) {
      const wanted = names && new Set(names);
      return [...partitions.values()]
        .filter(({ partition }) => inScope(scope, partition) && wanted?.has(partition) !== false)
        .sort((a, b) => (a.partition < b.partition ? -1 : 1))
        .map(copyRecord);
    },
    async update(partition, patch, guard) {
      const record = partitions.get(partition);
      if (record === undefined || (guard !== undefined && record.embedder !== guard.embedder)) return null;
      if (patch.embedder !== undefined) record.swapped_from = [];
      return copyRecord(Object.assign(record, copyRecord(patch)));
    },
    async beginSwap({ partition, partition_key }, { swap_id, source, target }) {
      const record = partitions.get(partition);
      if (record?.partition_key !== partition_key || record.embedder !== source) return null;
      record.swap = { swap_id, target };
      return copyRecord(record);
    },
    async endSwap(partition, swapId, { switched }) {
      const record = partitions.get(partition);
      if (record?.swap?.swap_id !== swapId) return false;
      if (switched) {
        record.swapped_from = [...record.swapped_from, record.embedder];
        record.embedder = record.swap.target;
      }
      record.swap = null;
      return true;
    },
    async renameReference(setting, from, to) {
      const [field, inner] = setting.split('.') as [keyof PartitionRecord, string?];
      for (const record of partitions.values()) {
        const holder = (inner === undefined ? record : record[field]) as Record<string, unknown> | null;
        const key = inner ?? field;
        if (holder?.[key] === from) holder[key] = to;
      }
    },
    async memberships(userId) {
      return members
        .filter((member) => member.user_id === userId)
        .sort((a, b) => (a.partition < b.partition ? -1 : 1))
        .map(copyRecord);
    },
    async members(partition) {
      return members
        .filter((member) => member.partition === partition)
        .sort((a, b) => a.user_id - b.user_id)
        .map(copyRecord);
    },
    async addMember(partition, userId, role) {
      if (!partitions.has(partition)) throw new AppError('PARTITION_NOT_FOUND');
      if (memberOf(userId, partition) !== undefined) throw new AppError('MEMBERSHIP_EXISTS');
      members.push({ user_id: userId, partition, role, added_at: new Date() });
    },
    async setRole(partition, userId, role) {
      const member = role === 'owner' ? memberOf(userId, partition) : replaceable(userId, partition);
      if (member === undefined) throw new AppError('MEMBERSHIP_NOT_FOUND');
      member.role = role;
    },
    async removeMember(partition, userId) {
      const leaving = replaceable(userId, partition);
      members = members.filter((member) => member !== leaving);
    },
    async removeUser(userId) {
      members = members.filter((member) => member.user_id !== userId);
    },
    async roleOf(userId, partition) {
      return memberOf(userId, partition)?.role ?? null;
    },
    async markDeleted(partition, partitionKey) {
      const record = partitions.get(partition);
      if (record === undefined || (partitionKey ?? record.partition_key) !== record.partition_key)
        return null;
      partitions.delete(partition);
      deleted.set(partition, record);
      members = members.filter((member) => member.partition !== partition);
      return copyRecord(record);
    },
    async listDeleted() {
      return copyRecord([...deleted.values()]);
    },
    async removeDeleted({ partition, partition_key }) {
      if (deleted.get(partition)?.partition_key === partition_key) deleted.delete(partition);
    },
  };
}
