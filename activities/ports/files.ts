/**
 * Files: their records, their bytes and what makes both unique; see `adapters.ts` for the rules that hold for all
 * ports.
 */
import type { FileRecord, FileVersion, Metadata } from '../../schemas/documents/documents.js';
import type { PartitionRecord } from '../../schemas/documents/partitions.js';
import type { Scope, UploaderCounts } from '../../schemas/documents/users.js';
import type { Readable } from 'node:stream';

/** A version of a mail that a file was taken out of. */
interface Attachment {
  fileKey: string;
  generation: number;
}

/** What is told of a file in a workspace. */
interface WorkspaceFile extends Pick<FileRecord, 'file_key' | 'partition' | 'file_id'> {
  is_live: boolean;
}

/** What is told of a file that shall be put into a workspace. */
export type PlacedFile = Pick<FileRecord, 'file_key' | 'partition' | 'file_id' | 'workspaces'>;

export interface FileStore {
  /** The active record of a name (live or not, never a tombstone). */
  get(partition: string, fileId: string): Promise<FileRecord | null>;
  /**
   * Records by surrogate key, tombstones included; missing keys are missing in the map.
   * @param options.reports false: without what parsing reported, which is a third of a record
   */
  getMany(fileKeys: readonly string[], options?: { reports?: boolean }): Promise<Map<string, FileRecord>>;
  /** The names of the partitions that files are in, by surrogate key; tombstones included, missing keys are missing. */
  partitionsOf(fileKeys: readonly string[]): Promise<Map<string, string>>;
  /**
   * Live files of a partition, by file id, from the one at `offset` on, or from behind the id `after`; those of one
   * degraded stage if asked.
   */
  listLive(
    scope: Scope,
    partition: string,
    options?: {
      limit?: number | undefined;
      degradedStage?: string | undefined;
      offset?: number;
      after?: string | undefined;
    },
  ): Promise<FileRecord[]>;
  /** Ids of the first live files of a partition, in their order. */
  listIds(scope: Scope, partition: string, limit: number): Promise<string[]>;
  /** Live files of a partition by file id, from behind one on; `null`: from the first. */
  pageLive(partition: string, page: { after: string | null; limit: number }): Promise<FileRecord[]>;
  /** Names of the live files of those of these partitions that lie in the scope, in no order. */
  scanNames(
    scope: Scope,
    partitions: readonly string[],
  ): AsyncIterable<{ fileKey: string; fileId: string; filename: string }>;
  /**
   * Live files of a partition that share a relationship id, by file id; the first of them when a limit is given, and
   * those behind a file id.
   */
  listRelated(
    scope: Scope,
    partition: string,
    relationshipId: string,
    options?: { limit?: number; after?: string | undefined },
  ): Promise<FileRecord[]>;
  /** Live files per partition and the chunks of their versions; as exact as `countLive`, and one question. */
  totalLive(partitions: readonly string[]): Promise<Map<string, { files: number; chunks: number }>>;
  /** Live files per partition; with `totalLive` the only source of `file_count`. */
  countLive(partitions: readonly string[]): Promise<Map<string, number>>;
  /** Live files of a partition whose enrichment left a stage out. */
  countDegraded(partition: string): Promise<number>;
  /** Which of these tasks made a version that is live now. */
  liveTasks(taskIds: readonly string[]): Promise<string[]>;
  /** Files of a partition that a task is about to make live. */
  countPending(partition: string): Promise<number>;
  /** Live files of a partition by the name of the embedder that made their vectors. */
  countEmbedders(partition: string): Promise<Map<string, number>>;
  /** Live files by partition that hold vectors of an embedder. */
  countByEmbedder(embedder: string): Promise<Map<string, number>>;
  /** An embedder has another name from now on; its vectors stay where they are. */
  renameEmbedder(from: string, to: string): Promise<void>;
  /** The live versions of a partition that have vectors of both embedders, after a swap: the new one's count now. */
  switchEmbedder(partitionKey: string, from: string, to: string): Promise<void>;
  /** What users have uploaded; the only source of a user's `file_count`. */
  countByUploader(userIds: readonly number[]): Promise<Map<number, UploaderCounts>>;
  /** Leaves the files of a deleted user without an uploader. */
  forgetUploader(userId: number): Promise<void>;
  /** Files in a workspace, by file id, tombstones left out; pending ones too. Their names alone, however many. */
  listByWorkspace(workspaceKey: string): Promise<WorkspaceFile[]>;
  /** Live files of a partition among these ids, in no order. Their names and workspaces alone, however many. */
  listPlaced(partition: string, fileIds: readonly string[]): Promise<PlacedFile[]>;
  /** Keys of the live files in a workspace, however many. */
  listWorkspaceKeys(workspaceKey: string): Promise<string[]>;
  /**
   * Puts a live file into a workspace of its partition. False when it is not live (any more), or in another partition
   * by now. Repeating is harmless.
   */
  attachWorkspace(file: Pick<FileRecord, 'file_key' | 'partition'>, workspaceKey: string): Promise<boolean>;
  /**
   * Takes a file out of a workspace. Out of its last one it lives by itself from then on, in later ones too. False when
   * it was not in it.
   */
  detachWorkspace(fileKey: string, workspaceKey: string): Promise<boolean>;
  /**
   * A workspace lets go of a file. `orphaned`: it was the last one of a file that lives by its workspaces, and the
   * file is a tombstone now (`before` is what it was); `kept` when it shall stay all the same; else `released`.
   */
  releaseWorkspace(
    fileKey: string,
    workspaceKey: string,
    options: { keepFile: boolean },
  ): Promise<{ outcome: 'orphaned'; before: FileRecord } | { outcome: 'kept' | 'released' | 'gone' }>;
  /**
   * POST. Inserts the record, or takes over one whose first task failed or was cancelled, by one guarded update.
   * `stale` means that a greater generation was admitted meanwhile: take a new one and ask again.
   */
  admitFirst(input: {
    fileKey: string;
    partition: string;
    partitionKey: string;
    fileId: string;
    userId: number;
    taskId: string;
    generation: number;
    /** Keys; a file that gets some lives as long as the last of them. */
    workspaces?: readonly string[];
    /** Of a file that was taken out of a mail: which version of which. */
    attachedTo?: Attachment | null;
  }): Promise<
    | { outcome: 'admitted'; file: FileRecord }
    | { outcome: 'stale' }
    | { outcome: 'exists' | 'pending' | 'other-key'; file: FileRecord }
  >;
  /** PUT. Guarded on a live version or a pending task. `supersededTask` is the task that was pending before. */
  admitReplacement(input: {
    fileKey: string;
    taskId: string;
    generation: number;
  }): Promise<
    { outcome: 'admitted'; file: FileRecord; supersededTask: string | null } | { outcome: 'stale' | 'gone' }
  >;
  /**
   * Makes a version live: one update guarded on `pending_task == taskId`, never an upsert. The record's
   * `metadata_patch` is merged into the version. Repeating it after success answers `already`. `previous` is the
   * version that was live before. Where the chunks, written for `chunkPartition` (the record's own by default) with the
   * version's own metadata, do not say what the record says, they are `behind`, and the task is put into
   * `chunk_updates`.
   * @param known the record as it was read a moment ago, which spares reading it; the update is guarded on its revision
   */
  publish(
    fileKey: string,
    taskId: string,
    version: FileVersion,
    chunkPartition?: string,
    known?: FileRecord,
  ): Promise<
    | { outcome: 'published'; previous: FileVersion | null; behind: boolean }
    | { outcome: 'already' }
    | { outcome: 'superseded' }
  >;
  /** Clears `pending_task` if it is this task. True when it was. */
  releasePending(fileKey: string, taskId: string): Promise<boolean>;
  /** Turns an active record with a live version or a pending task into a tombstone; answers what it was before. */
  markDeleted(partition: string, fileId: string, fileKey?: string): Promise<FileRecord | null>;
  /** Files that were taken out of a mail, wherever they are, by file id. */
  listAttached(fileKey: string): Promise<FileRecord[]>;
  /**
   * A file that was taken out of a mail is in this version of it as well, wherever it is. False when there is none of
   * this name that is of this mail and either live or about to be.
   */
  keepAttached(input: { fileId: string; attachedTo: Attachment }): Promise<boolean>;
  /**
   * Files that were taken out of a mail forget its generations up to `upTo` that are not kept, and one that belongs to
   * none any more becomes a tombstone; answers what that was before, and null when there is none (any more).
   */
  dropAttached(
    fileKey: string,
    generations: { keep: readonly number[]; upTo: number },
  ): Promise<FileRecord | null>;
  /**
   * Changes a present file's words, and its place when `to` is given, in one update guarded on the revision that was
   * read; `token` goes into `chunk_updates`. `exists`: the target has a file of this id. `detach`: whatever mail it was
   * taken out of, it does not go with that one any more.
   */
  change(input: {
    file: FileRecord;
    token: string;
    live: FileVersion | null;
    metadataPatch: Metadata | null;
    to?: Pick<PartitionRecord, 'partition' | 'partition_key'>;
    detach?: boolean;
  }): Promise<'changed' | 'stale' | 'exists'>;
  /** Puts a token into `chunk_updates` without a change: something is about to be done that a crash must not hide. */
  announce(fileKey: string, token: string): Promise<void>;
  /** Takes tokens out of `chunk_updates` unless the record has changed since that revision. False when it has. */
  confirmChunkUpdates(fileKey: string, revision: number, tokens: readonly string[]): Promise<boolean>;
  /** Files with chunk updates announced before a point in time: the process that announced them has died. */
  listUnconfirmed(before: Date, limit: number): Promise<FileRecord[]>;
  /** Pending tasks of a partition. */
  listPending(partitionKey: string): Promise<{ fileKey: string; taskId: string; generation: number }[]>;
  /** Every file of a partition becomes a tombstone. */
  markPartitionDeleted(partitionKey: string): Promise<void>;
  listPartitionTombstones(partitionKey: string, limit: number): Promise<FileRecord[]>;
  /** Keys of a partition's tombstones, however many. */
  scanPartitionTombstones(partitionKey: string): AsyncIterable<string>;
  /** Removes a tombstone for good. */
  removeTombstone(fileKey: string): Promise<void>;
  listTombstones(limit: number): Promise<FileRecord[]>;
  /** All records in batches, tombstones too; for the checker and the reconciler. */
  scan(): AsyncIterable<FileRecord>;
}

/** Unique key (partition, digest): the same bytes are in a partition once. Held by tasks, shared within a file. */
export interface ClaimStore {
  /** Null when the claim is ours now (repeating is harmless); otherwise the file that holds these bytes. */
  claim(input: {
    partition: string;
    digest: string;
    fileKey: string;
    fileId: string;
    taskId: string;
  }): Promise<{ existingFileId: string } | null>;
  /** Lets go of whatever these tasks hold. */
  release(taskIds: readonly string[]): Promise<void>;
  releaseFiles(fileKeys: readonly string[]): Promise<void>;
  /** Lets go of what a file holds in any other partition than this one. */
  releaseElsewhere(fileKey: string, partition: string): Promise<void>;
  /** All that a file holds, in whatever partition. */
  listByFile(fileKey: string): Promise<ContentClaim[]>;
  scan(): AsyncIterable<ContentClaim>;
}

export interface ContentClaim {
  partition: string;
  digest: string;
  fileKey: string;
  /** Ids of tasks. */
  holders: string[];
}

export interface CounterStore {
  /** Global, ordered, never reused. */
  nextGeneration(): Promise<number>;
  /** Numbers of users, from 2 on: 1 is the administrator. */
  nextUserId(): Promise<number>;
}

export interface BlobInfo {
  blobId: string;
  kind: 'upload' | 'chunks';
  fileKey: string;
  generation: number;
  taskId: string;
  size: number;
  createdAt: Date;
}

/**
 * Big bytes (GridFS): uploads, and the chunk lists that one activity hands to the next. A blob exists only once
 * it is complete; an aborted write leaves nothing.
 */
export interface BlobStore {
  /** Streams in; answers size and hexadecimal SHA-256. Destroying the source or aborting removes what was written. */
  write(
    blob: { blobId: string; kind: BlobInfo['kind']; fileKey: string; generation: number; taskId: string },
    source: Readable,
    signal?: AbortSignal,
  ): Promise<{ size: number; sha256: string }>;
  /** Bytes [start, end); the whole blob by default. @throws AppError NOT_FOUND */
  read(blobId: string, range?: { start: number; end: number }): Promise<Readable>;
  info(blobId: string): Promise<BlobInfo | null>;
  /** Says which file version the blob belongs to, once admission has decided it. */
  assign(blobId: string, owner: { fileKey: string; generation: number }): Promise<void>;
  remove(blobId: string): Promise<void>;
  listByFile(fileKey: string): Promise<BlobInfo[]>;
  scan(): AsyncIterable<BlobInfo>;
  /** Chunks of blobs that never became complete (a killed gateway), older than a point in time. Answers how many. */
  removeIncomplete(before: Date): Promise<number>;
}
