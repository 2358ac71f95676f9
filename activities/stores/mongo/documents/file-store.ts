import type { Db, Filter } from 'mongodb';
import { AppError } from '../../../../schemas/app-error.js';
import type { FileRecord } from '../../../../schemas/documents/documents.js';
import { inScope } from '../../../../schemas/documents/users.js';
import { mergeMetadata } from '../../../../schemas/documents/merge-metadata.js';
import type { FileStore } from '../../../ports/files.js';
import { admitFirst } from './admit-first.js';
import {
  LIVE,
  NAMED,
  PRESENT,
  atRevision,
  nameKey,
  toFileRecord,
  toVersionDocument,
  tombstone,
} from './file-document.js';
import type { FileDocument } from './file-document.js';
import { createFileStatistics } from './file-statistics.js';
import { metadataToText } from './metadata-json.js';
import { isDuplicateKey, withMongoErrors } from '../mongo-errors.js';
import { createWorkspaceLinks } from './workspace-links.js';

/** A change of a record in between makes a publication look again; so often in a row it does not happen. */
const ATTEMPTS = 20;
const WITHOUT_REPORTS = { projection: { 'live.parse_report': 0 } };
/** Of a partition's names a page; they are short. */
const NAMES_AT_ONCE = 1000;

function ofPartition(partitionKey: string): Filter<FileDocument> {
  return {
    $or: [{ partition_key: partitionKey }, { partition_key: { $exists: false }, partition: partitionKey }],
  };
}

/**
 * File records in collection `files`. Every transition is one update with its condition in the filter; where it
 * does not match, the record is read once more only to say why.
 */
export function createMongoFileStore(db: Db): FileStore {
  const files = db.collection<FileDocument>('files');
  const read = async (fileKey: string): Promise<FileRecord | null> => {
    const document = await files.findOne({ _id: fileKey });
    return document && toFileRecord(document);
  };
  return withMongoErrors<FileStore>({
    async get(partition, fileId) {
      const document = await files.findOne({ name_key: nameKey(partition, fileId) });
      return document && toFileRecord(document);
    },
    async getMany(fileKeys, { reports = true } = {}) {
      const documents = await files
        .find({ _id: { $in: [...new Set(fileKeys)] } }, reports ? {} : WITHOUT_REPORTS)
        .toArray();
      return new Map(documents.map((document) => [document._id, toFileRecord(document)]));
    },
    async partitionsOf(fileKeys) {
      const documents = await files
        .find({ _id: { $in: [...new Set(fileKeys)] } }, { projection: { partition: 1 } })
        .toArray();
      return new Map(documents.map(({ _id, partition }) => [_id, partition]));
    },
    async listLive(scope, partition, { limit = 0, degradedStage, offset = 0, after } = {}) {
      if (!inScope(scope, partition)) return [];
      const degraded = degradedStage === undefined ? {} : { 'live.degraded_stages': degradedStage };
      const behind = after === undefined ? {} : { file_id: { $gt: after } };
      const documents = await files
        .find({ partition, ...behind, ...LIVE, ...degraded })
        .sort({ file_id: 1 })
        .skip(offset)
        .limit(limit)
        .toArray();
      return documents.map(toFileRecord);
    },
    async listIds(scope, partition, limit) {
      if (!inScope(scope, partition)) return [];
      const documents = await files
        .find({ partition, ...LIVE }, { projection: { file_id: 1 } })
        .sort({ file_id: 1 })
        .limit(limit)
        .toArray();
      return documents.map(({ file_id: fileId }) => fileId);
    },
    async pageLive(partition, { after, limit }) {
      const documents = await files
        .find({ partition, ...(after !== null && { file_id: { $gt: after } }), ...LIVE })
        .sort({ file_id: 1 })
        .limit(limit)
        .toArray();
      return documents.map(toFileRecord);
    },
    async *scanNames(scope, partitions) {
      const found = files.find(
        { partition: { $in: partitions.filter((partition) => inScope(scope, partition)) }, ...LIVE },
        { projection: { file_id: 1, 'live.filename': 1 }, batchSize: NAMES_AT_ONCE },
      );
      for await (const { _id, file_id: fileId, live } of found)
        yield { fileKey: _id, fileId, filename: live?.filename ?? '' };
    },
    async listRelated(scope, partition, relationshipId, { limit = 0, after } = {}) {
      if (!inScope(scope, partition)) return [];
      const documents = await files
        .find({
          partition,
          'live.relationship_id': relationshipId,
          ...(after === undefined ? {} : { file_id: { $gt: after } }),
          ...NAMED,
        })
        .sort({ file_id: 1 })
        .limit(limit)
        .toArray();
      return documents.map(toFileRecord);
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
      const change = {
        pending_task: taskId,
        latest_generation: generation,
        updated_at: new Date(),
        // The new bytes come with words of their own.
        metadata_patch: null,
      };
      const before = await files.findOneAndUpdate(
        { _id: fileKey, latest_generation: { $lt: generation }, ...PRESENT },
        { $set: change, $inc: { revision: 1 } },
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
      // The call was repeated after its answer was lost; the superseded task is known to the first call only.
      if (found.pending_task === taskId)
        return { outcome: 'admitted', file: toFileRecord(found), supersededTask: null };
      return { outcome: 'stale' };
    },
    async publish(fileKey, taskId, version, chunkPartition, known) {
      for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
        const record = attempt === 0 && known?.pending_task === taskId ? known : await read(fileKey);
        if (record === null || record.pending_task !== taskId || record.deleted_at !== null)
          return { outcome: record?.live?.task_id === taskId ? 'already' : 'superseded' };
        const { revision, metadata_patch: patch, live: previous, partition } = record;
        const behind = patch !== null || partition !== (chunkPartition ?? partition);
        const { matchedCount } = await files.updateOne(
          { _id: fileKey, pending_task: taskId, ...NAMED, ...atRevision(revision) },
          {
            $set: {
              live: toVersionDocument(mergeMetadata(version, patch)),
              pending_task: null,
              metadata_patch: null,
              updated_at: new Date(),
            },
            $inc: { revision: 1 },
            ...(behind ? { $addToSet: { chunk_updates: taskId } } : {}),
          },
        );
        if (matchedCount === 1) return { outcome: 'published', previous, behind };
      }
      // Retryable, unlike a conflict: nothing is wrong with the file.
      throw new AppError('STORAGE_ERROR', 'The file keeps changing while it is published.');
    },
    async releasePending(fileKey, taskId) {
      const { matchedCount } = await files.updateOne(
        { _id: fileKey, pending_task: taskId },
        { $set: { pending_task: null, updated_at: new Date() }, $inc: { revision: 1 } },
      );
      return matchedCount === 1;
    },
    async markDeleted(partition, fileId, fileKey) {
      const now = new Date();
      // `live` goes as well: so that a reader without a check of `deleted_at` finds no version.
      const before = await files.findOneAndUpdate(
        {
          $or: PRESENT.$or ?? [],
          name_key: nameKey(partition, fileId),
          ...(fileKey === undefined ? {} : { _id: fileKey }),
        },
        tombstone(now),
        { returnDocument: 'before' },
      );
      return before && toFileRecord(before);
    },
    async listAttached(fileKey) {
      const documents = await files
        .find({ 'attached.to': fileKey, ...NAMED })
        .sort({ file_id: 1 })
        .toArray();
      return documents.map(toFileRecord);
    },
    async keepAttached({ fileId, attachedTo }) {
      const { matchedCount } = await files.updateOne(
        { 'attached.to': attachedTo.fileKey, file_id: fileId, ...PRESENT },
        { $addToSet: { 'attached.generations': attachedTo.generation } },
      );
      return matchedCount === 1;
    },
    async dropAttached(fileKey, { keep, upTo }) {
      await files.updateMany(
        { 'attached.to': fileKey, ...NAMED },
        { $pull: { 'attached.generations': { $nin: [...keep], $lte: upTo } } },
      );
      // A version that was read in between has put its generation in.
      const before = await files.findOneAndUpdate(
        { 'attached.to': fileKey, 'attached.generations': { $size: 0 }, ...NAMED },
        tombstone(new Date()),
        { returnDocument: 'before' },
      );
      return before && toFileRecord(before);
    },
    async change({ file, token, live, metadataPatch, to, detach = false }) {
      const name =
        to === undefined
          ? {}
          : {
              ...to,
              name_key: nameKey(to.partition, file.file_id),
              // Workspaces belong to the partition that it leaves.
              workspaces: [],
              independent: true,
            };
      try {
        const { matchedCount } = await files.updateOne(
          { _id: file.file_key, ...NAMED, ...atRevision(file.revision) },
          {
            $set: {
              ...name,
              live: live && toVersionDocument(live),
              metadata_patch: metadataPatch === null ? null : metadataToText(metadataPatch),
              updated_at: new Date(),
            },
            ...(detach ? { $unset: { attached: '' as const } } : {}),
            $inc: { revision: 1 },
            $addToSet: { chunk_updates: token },
          },
        );
        return matchedCount === 1 ? 'changed' : 'stale';
      } catch (error) {
        if (isDuplicateKey(error)) return 'exists';
        throw error;
      }
    },
    async announce(fileKey, token) {
      await files.updateOne(
        { _id: fileKey },
        { $addToSet: { chunk_updates: token }, $set: { updated_at: new Date() } },
      );
    },
    async confirmChunkUpdates(fileKey, revision, tokens) {
      const { matchedCount } = await files.updateOne(
        { _id: fileKey, ...atRevision(revision) },
        { $pull: { chunk_updates: { $in: [...tokens] } } },
      );
      return matchedCount === 1;
    },
    async listUnconfirmed(before, limit) {
      const documents = await files
        // Any token: a bound that an index answers, which the place of the first element is not.
        .find({ chunk_updates: { $gte: '' }, updated_at: { $lt: before } })
        .limit(limit)
        .toArray();
      return documents.map(toFileRecord);
    },
    async listPending(partitionKey) {
      const documents = await files
        .find({ ...ofPartition(partitionKey), pending_task: { $ne: null } })
        .project<Pick<FileDocument, '_id' | 'pending_task' | 'latest_generation'>>({
          pending_task: 1,
          latest_generation: 1,
        })
        .toArray();
      return documents.flatMap(({ _id, pending_task, latest_generation }) =>
        pending_task === null ? [] : [{ fileKey: _id, taskId: pending_task, generation: latest_generation }],
      );
    },
    async markPartitionDeleted(partitionKey) {
      await files.updateMany({ ...ofPartition(partitionKey), ...NAMED }, tombstone(new Date()));
    },
    async listPartitionTombstones(partitionKey, limit) {
      const documents = await files
        .find({ ...ofPartition(partitionKey), tombstone_at: { $exists: true } })
        .limit(limit)
        .toArray();
      return documents.map(toFileRecord);
    },
    async *scanPartitionTombstones(partitionKey) {
      const found = files.find(
        { ...ofPartition(partitionKey), tombstone_at: { $exists: true } },
        { projection: { _id: 1 }, batchSize: NAMES_AT_ONCE },
      );
      for await (const { _id } of found) yield _id;
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
}
