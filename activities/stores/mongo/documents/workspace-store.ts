import type { Db } from 'mongodb';
import { AppError } from '../../../../schemas/app-error.js';
import { inScope } from '../../../../schemas/documents/users.js';
import type { WorkspaceRecord } from '../../../../schemas/documents/partitions.js';
import type { WorkspaceStore } from '../../../ports/partitions.js';
import { isDuplicateKey, withMongoErrors } from '../mongo-errors.js';
import { NAMED } from './file-document.js';

interface WorkspaceDocument {
  /** The workspace key. */
  _id: string;
  /** `partition/workspace_id`, unique; there only until it is deleted, so that the id is free at once. */
  name_key?: string;
  workspace_id: string;
  partition: string;
  display_name: string | null;
  created_by: number | null;
  created_at: Date;
  /** There on deleted ones only, so that the sparse index lists them. */
  deleted_at?: Date;
  keep_files?: boolean;
}

/** Partition names hold no slash, so that no two pairs read alike. */
function nameKey(partition: string, workspaceId: string): string {
  return `${partition}/${workspaceId}`;
}

function toRecord(document: WorkspaceDocument): WorkspaceRecord {
  return {
    workspace_key: document._id,
    workspace_id: document.workspace_id,
    partition: document.partition,
    display_name: document.display_name,
    created_by: document.created_by,
    created_at: document.created_at,
    deleted:
      document.deleted_at === undefined
        ? null
        : { at: document.deleted_at, keepFiles: document.keep_files === true },
  };
}

/** Workspaces in collection `workspaces`; which files they hold is said by the file records. */
export function createMongoWorkspaceStore(db: Db): WorkspaceStore {
  const workspaces = db.collection<WorkspaceDocument>('workspaces');
  return withMongoErrors<WorkspaceStore>({
    async create({ workspace_key, ...rest }) {
      const document: WorkspaceDocument = {
        _id: workspace_key,
        name_key: nameKey(rest.partition, rest.workspace_id),
        ...rest,
        created_at: new Date(),
      };
      try {
        await workspaces.insertOne(document);
      } catch (error) {
        if (isDuplicateKey(error)) throw new AppError('WORKSPACE_EXISTS');
        throw error;
      }
      return toRecord(document);
    },
    async get(partition, workspaceId) {
      const document = await workspaces.findOne({ name_key: nameKey(partition, workspaceId) });
      return document && toRecord(document);
    },
    async find(partitions, workspaceId) {
      const names = partitions.map((partition) => nameKey(partition, workspaceId));
      return (await workspaces.find({ name_key: { $in: names } }).toArray()).map(toRecord);
    },
    async getMany(workspaceKeys) {
      const documents = await workspaces
        .find({ _id: { $in: [...new Set(workspaceKeys)] }, ...NAMED })
        .toArray();
      return new Map(documents.map((document) => [document._id, toRecord(document)]));
    },
    async list(scope, partition) {
      if (!inScope(scope, partition)) return [];
      const documents = await workspaces
        .find({ partition, ...NAMED })
        .sort({ workspace_id: 1 })
        .toArray();
      return documents.map(toRecord);
    },
    async markDeleted(partition, workspaceId, { keepFiles }) {
      const document = await workspaces.findOneAndUpdate(
        { name_key: nameKey(partition, workspaceId) },
        { $set: { deleted_at: new Date(), keep_files: keepFiles }, $unset: { name_key: '' } },
        { returnDocument: 'after' },
      );
      return document && toRecord(document);
    },
    async listDeleted(before, limit) {
      const documents = await workspaces
        .find({ deleted_at: { $lt: before } })
        .limit(limit)
        .toArray();
      return documents.map(toRecord);
    },
    async remove(workspaceKey) {
      await workspaces.deleteOne({ _id: workspaceKey, deleted_at: { $exists: true } });
    },
    async removeMany(workspaceKeys) {
      await workspaces.deleteMany({ _id: { $in: [...workspaceKeys] } });
    },
    async forgetCreator(userId) {
      await workspaces.updateMany({ created_by: userId }, { $set: { created_by: null } });
    },
  });
}
