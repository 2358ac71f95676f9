import type { FileStore } from '../../../../activities/ports/files.js';
import { AppError } from '../../../../schemas/app-error.js';
import { mergeMetadata } from '../../../../schemas/documents/merge-metadata.js';
import { inScope } from '../../../../schemas/documents/users.js';
import type { FileRecord } from '../../../../schemas/documents/documents.js';
import { copyRecord } from '../copy-record.js';

function isPresent(file: FileRecord): boolean {
  return file.deleted_at === null && (file.live !== null || file.pending_task !== null);
}

/** File records in a Map. Each method does its work without awaiting, so that it is as atomic as an update. */
export function createFakeFileStore(): FileStore {
  const files = new Map<string, FileRecord>();
  const copy = (file: FileRecord): FileRecord => copyRecord(file);
  const touch = (file: FileRecord): void => {
    file.revision += 1;
    file.updated_at = new Date();
  };
  const bury = (file: FileRecord): void => {
    Object.assign(file, {
      live: null,
      pending_task: null,
      metadata_patch: null,
      workspaces: [],
      deleted_at: new Date(),
    });
    touch(file);
  };
  const active = (partition: string, fileId: string): FileRecord | undefined =>
    [...files.values()].find(
      (file) => file.deleted_at === null && file.partition === partition && file.file_id === fileId,
    );
  const attachedTo = (fileKey: string): FileRecord[] =>
    [...files.values()].filter(({ attached, deleted_at }) => attached?.to === fileKey && deleted_at === null);
  const liveOf = (partition: string): FileRecord[] =>
    [...files.values()]
      .filter((file) => file.partition === partition && file.live !== null && file.deleted_at === null)
      .sort((a, b) => (a.file_id < b.file_id ? -1 : 1));
  return {
    async get(partition, fileId) {
      return copyRecord(active(partition, fileId) ?? null);
    },
    async getMany(fileKeys, { reports = true } = {}) {
      return new Map(
        fileKeys.flatMap((key) => {
          const file = files.get(key);
          if (file === undefined) return [];
          const found = copy(file);
          if (!reports) delete found.live?.parse_report;
          return [[key, found] as const];
        }),
      );
    },
    async partitionsOf(fileKeys) {
      return new Map(
        fileKeys.flatMap((key) => {
          const file = files.get(key);
          return file === undefined ? [] : [[key, file.partition] as const];
        }),
      );
    },
    async listLive(scope, partition, { limit = Infinity, degradedStage, offset = 0, after } = {}) {
      if (!inScope(scope, partition)) return [];
      return liveOf(partition)
        .filter(({ file_id: id }) => after === undefined || id > after)
        .filter((file) => degradedStage === undefined || file.live?.degraded_stages.includes(degradedStage))
        .slice(offset, offset + limit)
        .map(copy);
    },
    async listIds(scope, partition, limit) {
      if (!inScope(scope, partition)) return [];
      return liveOf(partition)
        .slice(0, limit)
        .map(({ file_id }) => file_id);
    },
    async countDegraded(partition) {
      return liveOf(partition).filter(({ live }) => live?.degraded_stages.length !== 0).length;
    },
    async *scanNames(scope, partitions) {
      const seen = partitions.filter((partition) => inScope(scope, partition));
      for (const { file_key: fileKey, file_id: fileId, live } of seen.flatMap(liveOf))
        yield { fileKey, fileId, filename: live?.filename ?? '' };
    },
    async listRelated(scope, partition, relationshipId, { limit = Infinity, after = '' } = {}) {
      if (!inScope(scope, partition)) return [];
      return liveOf(partition)
        .filter((file) => file.live?.relationship_id === relationshipId && file.file_id > after)
        .slice(0, limit)
        .map(copy);
    },
    async countPending(partition) {
      return [...files.values()].filter(
        (file) => file.partition === partition && file.pending_task !== null && file.deleted_at === null,
      ).length;
    },
    async pageLive(partition, { after, limit }) {
      return liveOf(partition)
        .filter(({ file_id }) => after === null || file_id > after)
        .sort((a, b) => (a.file_id < b.file_id ? -1 : 1))
        .slice(0, limit)
        .map(copyRecord);
    },
    async switchEmbedder(partitionKey, from, to) {
      for (const { partition_key, live } of files.values())
        if (partition_key === partitionKey && live?.embedder === from) live.embedder = to;
    },
    async countEmbedders(partition) {
      const counts = new Map<string, number>();
      for (const { live } of liveOf(partition))
        if (live !== null) counts.set(live.embedder, (counts.get(live.embedder) ?? 0) + 1);
      return counts;
    },
    async countByEmbedder(embedder) {
      const counts = new Map<string, number>();
      for (const { live, deleted_at, partition } of files.values())
        if (live?.embedder === embedder && deleted_at === null)
          counts.set(partition, (counts.get(partition) ?? 0) + 1);
      return counts;
    },
    async renameEmbedder(from, to) {
      for (const { live } of files.values()) if (live?.embedder === from) live.embedder = to;
    },
    async countByUploader(userIds) {
      const present = [...files.values()].filter(({ deleted_at }) => deleted_at === null);
      return new Map(
        userIds.map((userId) => {
          const theirs = present.filter(({ created_by }) => created_by === userId);
          const live = theirs.filter(({ live }) => live !== null).length;
          const pending = theirs.filter(({ live, pending_task }) => live === null && pending_task !== null);
          return [userId, { files: live, pending: pending.length }];
        }),
      );
    },
    async forgetUploader(userId) {
      for (const file of files.values()) if (file.created_by === userId) file.created_by = null;
    },
    async listByWorkspace(workspaceKey) {
      return [...files.values()]
        .filter((file) => file.deleted_at === null && file.workspaces.includes(workspaceKey))
        .sort((a, b) => (a.file_id < b.file_id ? -1 : 1))
        .map(({ file_key, partition, file_id, live }) => ({
          file_key,
          partition,
          file_id,
          is_live: live !== null,
        }));
    },
    async listPlaced(partition, fileIds) {
      return liveOf(partition)
        .filter(({ file_id }) => fileIds.includes(file_id))
        .map(({ file_key, partition: place, file_id, workspaces }) => ({
          file_key,
          partition: place,
          file_id,
          workspaces: [...workspaces],
        }));
    },
    async listWorkspaceKeys(workspaceKey) {
      return [...files.values()]
        .filter(
          (file) => file.deleted_at === null && file.live !== null && file.workspaces.includes(workspaceKey),
        )
        .map(({ file_key }) => file_key);
    },
    async attachWorkspace({ file_key, partition }, workspaceKey) {
      const file = files.get(file_key);
      if (file?.partition !== partition || file.live === null || file.deleted_at !== null) return false;
      if (!file.workspaces.includes(workspaceKey)) file.workspaces.push(workspaceKey);
      return true;
    },
    async detachWorkspace(fileKey, workspaceKey) {
      const file = files.get(fileKey);
      if (file === undefined || !file.workspaces.includes(workspaceKey)) return false;
      file.workspaces = file.workspaces.filter((key) => key !== workspaceKey);
      if (file.workspaces.length === 0) file.independent = true;
      return true;
    },
    async releaseWorkspace(fileKey, workspaceKey, { keepFile }) {
      const file = files.get(fileKey);
      if (file === undefined || !file.workspaces.includes(workspaceKey)) return { outcome: 'gone' };
      const before = copy(file);
      file.workspaces = file.workspaces.filter((key) => key !== workspaceKey);
      const livesBy = file.workspaces.length === 0 && !file.independent && file.attached === undefined;
      if (!livesBy || !isPresent(before)) return { outcome: 'released' };
      if (keepFile) {
        file.independent = true;
        return { outcome: 'kept' };
      }
      bury(file);
      return { outcome: 'orphaned', before };
    },
    async totalLive(partitions) {
      const totals = new Map(partitions.map((name) => [name, { files: 0, chunks: 0 }]));
      for (const { partition, live, deleted_at: deleted } of files.values()) {
        const total = totals.get(partition);
        if (total === undefined || live === null || deleted !== null) continue;
        total.files += 1;
        total.chunks += live.chunk_count;
      }
      return totals;
    },
    async countLive(partitions) {
      const live = [...files.values()].filter((file) => file.live !== null && file.deleted_at === null);
      return new Map(
        partitions.map((name) => [name, live.filter(({ partition }) => partition === name).length]),
      );
    },
    async liveTasks(taskIds) {
      const live = [...files.values()].flatMap((file) => file.live?.task_id ?? []);
      return live.filter((taskId) => taskIds.includes(taskId));
    },
    async admitFirst(input) {
      const { fileKey, partition, partitionKey, fileId, userId, taskId, generation, workspaces = [] } = input;
      const { attachedTo } = input;
      const belonging = {
        workspaces: [...workspaces],
        independent: workspaces.length === 0,
        ...(attachedTo != null && {
          attached: { to: attachedTo.fileKey, generations: [attachedTo.generation] },
        }),
      };
      const found = active(partition, fileId);
      const now = new Date();
      if (found === undefined) {
        if (files.has(fileKey)) throw new AppError('CONFLICT');
        const file: FileRecord = {
          file_key: fileKey,
          partition,
          partition_key: partitionKey,
          file_id: fileId,
          created_by: userId,
          ...belonging,
          latest_generation: generation,
          live: null,
          pending_task: taskId,
          metadata_patch: null,
          revision: 0,
          chunk_updates: [],
          created_at: now,
          updated_at: now,
          deleted_at: null,
        };
        files.set(fileKey, file);
        return { outcome: 'admitted', file: copy(file) };
      }
      if (found.pending_task === taskId) return { outcome: 'admitted', file: copy(found) };
      if (found.live !== null) return { outcome: 'exists', file: copy(found) };
      if (found.pending_task !== null) return { outcome: 'pending', file: copy(found) };
      if (found.file_key !== fileKey) return { outcome: 'other-key', file: copy(found) };
      if (found.latest_generation >= generation) return { outcome: 'stale' };
      if (attachedTo == null) delete found.attached;
      Object.assign(found, {
        pending_task: taskId,
        latest_generation: generation,
        created_by: userId,
        ...belonging,
        metadata_patch: null,
        revision: found.revision + 1,
        updated_at: now,
      });
      return { outcome: 'admitted', file: copy(found) };
    },
    async admitReplacement({ fileKey, taskId, generation }) {
      const file = files.get(fileKey);
      if (file === undefined || !isPresent(file)) return { outcome: 'gone' };
      if (file.latest_generation >= generation)
        return file.pending_task === taskId
          ? { outcome: 'admitted', file: copy(file), supersededTask: null }
          : { outcome: 'stale' };
      const supersededTask = file.pending_task;
      Object.assign(file, { pending_task: taskId, latest_generation: generation, metadata_patch: null });
      touch(file);
      return { outcome: 'admitted', file: copy(file), supersededTask };
    },
    async publish(fileKey, taskId, version, chunkPartition) {
      const file = files.get(fileKey);
      if (file?.pending_task !== taskId || file.deleted_at !== null)
        return { outcome: file?.live?.task_id === taskId ? 'already' : 'superseded' };
      const previous = file.live;
      const patch = file.metadata_patch;
      const behind = patch !== null || file.partition !== (chunkPartition ?? file.partition);
      if (behind) file.chunk_updates.push(taskId);
      const live = mergeMetadata(copyRecord(version), patch);
      Object.assign(file, { live, pending_task: null, metadata_patch: null });
      touch(file);
      return { outcome: 'published', previous, behind };
    },
    async releasePending(fileKey, taskId) {
      const file = files.get(fileKey);
      if (file?.pending_task !== taskId) return false;
      file.pending_task = null;
      touch(file);
      return true;
    },
    async markDeleted(partition, fileId, fileKey) {
      const file = active(partition, fileId);
      if (file === undefined || !isPresent(file)) return null;
      if (fileKey !== undefined && file.file_key !== fileKey) return null;
      const before = copy(file);
      bury(file);
      return before;
    },
    async listAttached(fileKey) {
      return attachedTo(fileKey)
        .sort((a, b) => (a.file_id < b.file_id ? -1 : 1))
        .map(copy);
    },
    async keepAttached({ fileId, attachedTo: { fileKey, generation } }) {
      const file = attachedTo(fileKey).find(({ file_id }) => file_id === fileId);
      if (file?.attached === undefined || !isPresent(file)) return false;
      const { generations } = file.attached;
      if (!generations.includes(generation)) generations.push(generation);
      return true;
    },
    async dropAttached(fileKey, { keep, upTo }) {
      const isKept = (generation: number): boolean => keep.includes(generation) || generation > upTo;
      const theirs = attachedTo(fileKey);
      for (const { attached } of theirs) attached!.generations = attached!.generations.filter(isKept);
      const file = theirs.find(({ attached }) => attached!.generations.length === 0);
      if (file === undefined) return null;
      const before = copy(file);
      bury(file);
      return before;
    },
    async change({ file: { file_key, revision, file_id }, token, live, metadataPatch, to, detach = false }) {
      const file = files.get(file_key);
      if (file === undefined || file.deleted_at !== null || file.revision !== revision) return 'stale';
      const there = to === undefined ? undefined : active(to.partition, file_id);
      if (there !== undefined && there !== file) return 'exists';
      if (to !== undefined) Object.assign(file, { ...to, workspaces: [], independent: true });
      if (detach) delete file.attached;
      Object.assign(file, { live: copyRecord(live), metadata_patch: copyRecord(metadataPatch) });
      if (!file.chunk_updates.includes(token)) file.chunk_updates.push(token);
      touch(file);
      return 'changed';
    },
    async announce(fileKey, token) {
      const file = files.get(fileKey);
      if (file === undefined || file.chunk_updates.includes(token)) return;
      file.chunk_updates.push(token);
      file.updated_at = new Date();
    },
    async confirmChunkUpdates(fileKey, revision, tokens) {
      const file = files.get(fileKey);
      if (file?.revision !== revision) return false;
      file.chunk_updates = file.chunk_updates.filter((token) => !tokens.includes(token));
      return true;
    },
    async listUnconfirmed(before, limit) {
      return [...files.values()]
        .filter((file) => file.chunk_updates.length > 0 && file.updated_at < before)
        .slice(0, limit)
        .map(copy);
    },
    async listPending(partitionKey) {
      return [...files.values()].flatMap(({ partition_key, pending_task, file_key, latest_generation }) =>
        partition_key === partitionKey && pending_task !== null
          ? [{ fileKey: file_key, taskId: pending_task, generation: latest_generation }]
          : [],
      );
    },
    async markPartitionDeleted(partitionKey) {
      for (const file of files.values())
        if (file.partition_key === partitionKey && file.deleted_at === null) bury(file);
    },
    async listPartitionTombstones(partitionKey, limit) {
      return [...files.values()]
        .filter((file) => file.partition_key === partitionKey && file.deleted_at !== null)
        .slice(0, limit)
        .map(copy);
    },
    async *scanPartitionTombstones(partitionKey) {
      for (const { file_key: key, partition_key: of, deleted_at: deleted } of [...files.values()])
        if (of === partitionKey && deleted !== null) yield key;
    },
    async removeTombstone(fileKey) {
      if (files.get(fileKey)?.deleted_at != null) files.delete(fileKey);
    },
    async listTombstones(limit) {
      return [...files.values()]
        .filter((file) => file.deleted_at !== null)
        .slice(0, limit)
        .map(copy);
    },
    async *scan() {
      for (const file of [...files.values()]) yield copy(file);
    },
  };
}
