import type { Collection } from 'mongodb';
import type { FileStore } from '../../../ports/files.js';
import { LIVE, NAMED } from './file-document.js';
import type { FileDocument } from './file-document.js';

type Statistics = Pick<
  FileStore,
  | 'countLive'
  | 'totalLive'
  | 'countPending'
  | 'countDegraded'
  | 'countEmbedders'
  | 'countByEmbedder'
  | 'renameEmbedder'
  | 'switchEmbedder'
  | 'countByUploader'
  | 'forgetUploader'
>;

/** Counts over the file records: nothing is counted twice, and nothing drifts. */
export function createFileStatistics(files: Collection<FileDocument>): Statistics {
  const countBy = async <Key>(field: string, match: object): Promise<Map<Key, number>> => {
    const groups = await files
      .aggregate<{ _id: Key; count: number }>([
        { $match: match },
        { $group: { _id: `$${field}`, count: { $sum: 1 } } },
      ])
      .toArray();
    return new Map(groups.map(({ _id, count }) => [_id, count]));
  };
  return {
    async countLive(partitions) {
      const counts = await countBy<string>('partition', { partition: { $in: [...partitions] }, ...LIVE });
      return new Map(partitions.map((partition) => [partition, counts.get(partition) ?? 0]));
    },
    async totalLive(partitions) {
      // Live versions alone have chunks. By these two fields an index answers it without reading the records.
      const groups = await files
        .aggregate<{ _id: string; files: number; chunks: number }>([
          { $match: { partition: { $in: [...partitions] }, 'live.chunk_count': { $gte: 0 } } },
          { $group: { _id: '$partition', files: { $sum: 1 }, chunks: { $sum: '$live.chunk_count' } } },
        ])
        .toArray();
      const found = new Map(groups.map(({ _id, files: count, chunks }) => [_id, { files: count, chunks }]));
      return new Map(
        partitions.map((partition) => [partition, found.get(partition) ?? { files: 0, chunks: 0 }]),
      );
    },
    countPending: (partition) => files.countDocuments({ partition, pending_task: { $ne: null }, ...NAMED }),
    countDegraded: (partition) =>
      files.countDocuments({ partition, 'live.degraded_stages.0': { $exists: true }, ...LIVE }),
    countEmbedders: (partition) => countBy<string>('live.embedder', { partition, ...LIVE }),
    countByEmbedder: (embedder) => countBy<string>('partition', { 'live.embedder': embedder, ...LIVE }),
    async renameEmbedder(from, to) {
      // Tombstones too: until they are gone, nothing may seem to hold vectors of an embedder that is not there.
      await files.updateMany({ 'live.embedder': from }, { $set: { 'live.embedder': to } });
    },
    async switchEmbedder(partitionKey, from, to) {
      await files.updateMany(
        { partition_key: partitionKey, 'live.embedder': from },
        { $set: { 'live.embedder': to } },
      );
    },
    async countByUploader(userIds) {
      const theirs = { created_by: { $in: [...userIds] } };
      const [live, pending] = await Promise.all([
        countBy<number>('created_by', { ...theirs, ...LIVE }),
        countBy<number>('created_by', {
          ...theirs,
          live: null,
          pending_task: { $ne: null },
          ...NAMED,
        }),
      ]);
      return new Map(
        userIds.map((userId) => [
          userId,
          { files: live.get(userId) ?? 0, pending: pending.get(userId) ?? 0 },
        ]),
      );
    },
    async forgetUploader(userId) {
      await files.updateMany({ created_by: userId }, { $set: { created_by: null } });
    },
  };
}
