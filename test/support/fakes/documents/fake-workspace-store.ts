import type { WorkspaceStore } from '../../../../activities/ports/partitions.js';
import { AppError } from '../../../../schemas/app-error.js';
import { inScope } from '../../../../schemas/documents/users.js';
import type { WorkspaceRecord } from '../../../../schemas/documents/partitions.js';
import { copyRecord } from '../copy-record.js';

/** Workspaces in a Map. */
export function createFakeWorkspaceStore(): WorkspaceStore {
  const workspaces = new Map<string, WorkspaceRecord>();
  const all = (): WorkspaceRecord[] => [...workspaces.values()];
  const active = (partition: string, workspaceId: string): WorkspaceRecord | undefined =>
    all().find(
      (record) =>
        record.deleted === null && record.partition === partition && record.workspace_id === workspaceId,
    );
  return {
    async create(workspace) {
      if (active(workspace.partition, workspace.workspace_id) !== undefined)
        throw new AppError('WORKSPACE_EXISTS');
      const record = { ...workspace, created_at: new Date(), deleted: null };
      workspaces.set(workspace.workspace_key, record);
      return copyRecord(record);
    },
    get: async (partition, workspaceId) => copyRecord(active(partition, workspaceId) ?? null),
    find: async (partitions, workspaceId) =>
      partitions.flatMap((partition) => copyRecord(active(partition, workspaceId) ?? [])),
    async getMany(workspaceKeys) {
      return new Map(
        workspaceKeys.flatMap((key) => {
          const record = workspaces.get(key);
          return record?.deleted === null ? [[key, copyRecord(record)] as const] : [];
        }),
      );
    },
    async list(scope, partition) {
      if (!inScope(scope, partition)) return [];
      return all()
        .filter((record) => record.partition === partition && record.deleted === null)
        .sort((a, b) => (a.workspace_id < b.workspace_id ? -1 : 1))
        .map(copyRecord);
    },
    async markDeleted(partition, workspaceId, { keepFiles }) {
      const record = active(partition, workspaceId);
      if (record === undefined) return null;
      return copyRecord(Object.assign(record, { deleted: { at: new Date(), keepFiles } }));
    },
    async listDeleted(before, limit) {
      return all()
        .filter(({ deleted }) => deleted !== null && deleted.at < before)
        .slice(0, limit)
        .map(copyRecord);
    },
    async remove(workspaceKey) {
      if (workspaces.get(workspaceKey)?.deleted != null) workspaces.delete(workspaceKey);
    },
    async removeMany(workspaceKeys) {
      for (const key of workspaceKeys) workspaces.delete(key);
    },
    async forgetCreator(userId) {
      for (const record of all()) if (record.created_by === userId) record.created_by = null;
    },
  };
}
