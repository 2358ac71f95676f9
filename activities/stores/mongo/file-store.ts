import type { Db } from 'mongodb';
import { inScope } from '../../../schemas/documents.js';
import type { FileStore } from '../../ports.js';
import { admitFirst } from './admit-first.js';
import { LIVE, PRESENT, nameKey, toFileRecord, toVersionDocument } from './file-document.js';
import type { FileDocument } from './file-document.js';
import { createFileStatistics } from './file-statistics.js';
import { createWorkspaceLinks } from './workspace-links.js';
import { withMongoErrors } from './mongo-errors.js';

/**
 * File records in collection `files`. Every transition is one update with its condition in the filter; where it
 * does not match, the record is read once more only to say why.
 */
export const createMongoFileStore = (db: Db): FileStore => {
  const files = db.collection<FileDocument>('files');
  return withMongoErrors<FileStore>({
    async get(partition, fileId) {
      const document = await files.findOne({ name_key: nameKey(partition, fileId) });
      return document && toFileRecord(document);
    },
    async getMany(fileKeys) {
      const documents = await files.find({ _id: { $in: [...new Set(fileKeys)] } }).toArray();
      return new Map(documents.map((document) => [document._id, toFileRecord(document)]));
    },
    async listLive(scope, partition, { limit = 0, degradedStage } = {}) {
      if (!inScope(scope, partition)) return [];
      const degraded = degradedStage === undefined ? {} : { 'live.degraded_stages': degradedStage };
      const documents = await files
        .find({ partition, ...LIVE, ...degraded })
        .sort({ file_id: 1 })
        .limit(limit)
        .toArray();
      return documents.map(toFileRecord);
    },
    async listRelated(scope, partition, relationshipId) {
      if (!inScope(scope, partition)) return [];
      const documents = await files
        .find({ partition, 'live.relationship_id': relationshipId, name_key: { $exists: true } })
        .sort({ file_id: 1 })
        .toArray();
      return documents.map(toFileRecord);
    },
    async countByUser(userId) {
      const own = { created_by: userId, name_key: { $exists: true } };
      const [live, pending] = await Promise.all([
        files.countDocuments({ ...own, live: { $ne: null } }),
        files.countDocuments({ ...own, live: null, pending_task: { $ne: null } }),
      ]);
      return { live, pending };
    },
    async liveTasks(taskIds) {
      const documents = await files
        .find({ 'live.task_id': { $in: [...taskIds] } }, { projection: { 'live.task_id': 1 } })
        .toArray();
      return documents.flatMap(({ live }) => live?.task_id ?? []);
    },
    ...createFileStatistics(files),
    ...createWorkspaceLinks(files),
    admitFirst: (input) => admitFirst(files, input),
    async admitReplacement({ fileKey, taskId, generation }) {
      const change = { pending_task: taskId, latest_generation: generation, updated_at: new Date() };
      const before = await files.findOneAndUpdate(
        { _id: fileKey, latest_generation: { $lt: generation }, ...PRESENT },
        { $set: change },
        { returnDocument: 'before' },
      );
      if (before !== null)
        return {
          outcome: 'admitted',
          file: toFileRecord({ ...before, ...change }),
          supersededTask: before.pending_task,
        };
      const found = await files.findOne({ _id: fileKey, ...PRESENT });
      if (found === null) return { outcome: 'gone' };
      // The call was repeated after its answer was lost; whom it superseded is known to the first one only.
      if (found.pending_task === taskId)
        return { outcome: 'admitted', file: toFileRecord(found), supersededTask: null };
      return { outcome: 'stale' };
    },
    async publish(fileKey, taskId, version) {
      const before = await files.findOneAndUpdate(
        { _id: fileKey, pending_task: taskId, name_key: { $exists: true } },
        { $set: { live: toVersionDocument(version), pending_task: null, updated_at: new Date() } },
        { returnDocument: 'before' },
      );
      if (before !== null) return { outcome: 'published', previous: toFileRecord(before).live };
      const found = await files.findOne({ _id: fileKey });
      return { outcome: found?.live?.task_id === taskId ? 'already' : 'superseded' };
    },
    async releasePending(fileKey, taskId) {
      const { matchedCount } = await files.updateOne(
        { _id: fileKey, pending_task: taskId },
        { $set: { pending_task: null, updated_at: new Date() } },
      );
      return matchedCount === 1;
    },
    async markDeleted(partition, fileId) {
      const now = new Date();
      // `live` goes as well: even a reader that forgets to look at `deleted_at` must not find a version.
      const before = await files.findOneAndUpdate(
        { $or: PRESENT.$or ?? [], name_key: nameKey(partition, fileId) },
        {
          $set: { live: null, pending_task: null, workspaces: [], tombstone_at: now, updated_at: now },
          $unset: { name_key: '' },
        },
        { returnDocument: 'before' },
      );
      return before && toFileRecord(before);
    },
    async removeTombstone(fileKey) {
      await files.deleteOne({ _id: fileKey, tombstone_at: { $exists: true } });
    },
    async listTombstones(limit) {
      const documents = await files
        .find({ tombstone_at: { $exists: true } })
        .limit(limit)
        .toArray();
      return documents.map(toFileRecord);
    },
    async *scan() {
      for await (const document of files.find({}, { batchSize: 500 })) yield toFileRecord(document);
    },
  });
};
