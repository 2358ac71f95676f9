/**
 * The interfaces that the hands and the gateway use, in our words. Adapters live in `stores/` and `models/`
 * and are made in `connect.ts`; fakes for tests in `test/support/fakes/`. One contract suite runs on both.
 *
 * Every method may throw `AppError`: SERVICE_UNAVAILABLE when a record store cannot be reached,
 * VDB_CONNECTION_ERROR for the vector store, others as noted.
 */
import type { Readable } from 'node:stream';
import type {
  CallbackRecord,
  CallbackState,
  EnrichmentStage,
  FileRecord,
  FileVersion,
  Membership,
  Metadata,
  ModelEndpoint,
  ModelType,
  PartitionPatch,
  PartitionRecord,
  ProbedFacts,
  PresetRecord,
  PresetType,
  Role,
  Scope,
  StoredChunk,
  TaskFailure,
  TaskRecord,
  Stage,
  TaskState,
  UploaderCounts,
  UserPatch,
  UserRecord,
  WorkerRecord,
  WorkspaceRecord,
} from '../schemas/documents.js';
import type { ModelServers, PromptStore } from './admin-ports.js';
import type { PromptSource } from './prompts/prompt-source.js';
import type { Rate } from '../schemas/rate.js';
import type { FilterExpression } from './retrieval/filter/expression.js';

export interface UserStore {
  /** Creates user 1, the admin, or gives it the present token's digest (null when authentication is off). */
  ensureAdmin(tokenDigest: string | null): Promise<UserRecord>;
  /** @param digest hexadecimal SHA-256 of the bearer token */
  findByTokenDigest(digest: string): Promise<UserRecord | null>;
  /** Null for one that is being deleted. */
  get(userId: number): Promise<UserRecord | null>;
  /** Those of the ids that exist. */
  getMany(userIds: readonly number[]): Promise<Map<number, UserRecord>>;
  /** By number. */
  list(): Promise<UserRecord[]>;
  /** @throws AppError USER_EXISTS for an external id or mail address in use */
  create(user: Omit<UserRecord, 'created_at' | 'deleted_at'>): Promise<UserRecord>;
  /** Null when there is no such user. @throws AppError USER_EXISTS */
  update(userId: number, patch: UserPatch): Promise<UserRecord | null>;
  /** The old token is dead from then on. Null when there is no such user. */
  setToken(userId: number, tokenDigest: string): Promise<UserRecord | null>;
  /** By external id first, then by mail address. */
  findByIdentity(identity: {
    externalUserId?: string | null | undefined;
    email?: string | null | undefined;
  }): Promise<UserRecord | null>;
  /**
   * Users whose name or mail address begins with a text (without case), or whose number it is; by number, after one.
   */
  search(request: {
    text: string;
    after: number;
    limit: number;
    without: readonly number[];
  }): Promise<UserRecord[]>;
  /** Takes token, names and visibility away in one update, and leaves a mark for the clean-up. False: no such user. */
  markDeleted(userId: number): Promise<boolean>;
  /** Marked, and not yet removed. */
  listDeleted(limit: number): Promise<UserRecord[]>;
  /** Removes a marked user for good. */
  remove(userId: number): Promise<void>;
}

/**
 * The part of a user's record that makes a quota hold: the tasks that will add a file to what the user has, each from
 * its admission until the file is live or given up. Every change is one update matched on the task, so that
 * repeating it is harmless.
 */
export interface QuotaStore {
  /** `turn` changes with every release: what was counted before one is out of date after it. */
  pending(userId: number): Promise<{ taskIds: string[]; turn: number }>;
  /**
   * Adds the task to the list while fewer than `room` are on it and `turn` is still the one that `room` was counted
   * at. A task that is on it already stays `reserved`.
   */
  reserve(input: {
    userId: number;
    taskId: string;
    room: number;
    turn: number;
  }): Promise<'reserved' | 'full' | 'changed'>;
  /** Takes tasks off whatever list they are on. */
  release(taskIds: readonly string[]): Promise<void>;
  /** The heir takes the place of a task that is on a list; nothing happens otherwise. */
  inherit(taskId: string, heir: string): Promise<void>;
  /** The lists that are not empty. */
  scan(): AsyncIterable<{ userId: number; taskIds: string[] }>;
}

/** Settings of a partition that name another record. */
export type NamingSetting =
  | 'embedder'
  | 'chat_llm'
  | 'indexation_preset'
  | 'retrieval_preset'
  | 'generation_prompt_names.sys_prompt'
  | 'generation_prompt_names.spoken_style_answer';

export interface PartitionStore {
  /** Creates the partition with its owner. @throws AppError PARTITION_EXISTS; CONFLICT while one of the name is being deleted */
  create(input: { partition: string; embedder: string; ownerId: number }): Promise<PartitionRecord>;
  get(partition: string): Promise<PartitionRecord | null>;
  /** Partitions inside the scope, by name. */
  list(scope: Scope): Promise<PartitionRecord[]>;
  /** One update; null when the partition is missing, or is not on the embedder that the change is to start from. */
  update(
    partition: string,
    patch: PartitionPatch,
    guard?: { embedder: string },
  ): Promise<PartitionRecord | null>;
  /** Every partition whose setting has this name takes the other one. */
  renameReference(setting: NamingSetting, from: string, to: string): Promise<void>;
  memberships(userId: number): Promise<Membership[]>;
  /** Members of a partition, by number. */
  members(partition: string): Promise<Membership[]>;
  /** @throws AppError MEMBERSHIP_EXISTS, PARTITION_NOT_FOUND */
  addMember(partition: string, userId: number, role: Role): Promise<void>;
  /** @throws AppError MEMBERSHIP_NOT_FOUND, or LAST_OWNER when nobody would own the partition */
  setRole(partition: string, userId: number, role: Role): Promise<void>;
  /** @throws AppError MEMBERSHIP_NOT_FOUND, LAST_OWNER */
  removeMember(partition: string, userId: number): Promise<void>;
  /** Takes a deleted user out of every partition, also where it is the last owner. */
  removeUser(userId: number): Promise<void>;
  roleOf(userId: number, partition: string): Promise<Role | null>;
  /**
   * From now on no other method finds the partition; its name stays taken until `removeDeleted`. Null when there is
   * none.
   */
  markDeleted(partition: string): Promise<PartitionRecord | null>;
  listDeleted(): Promise<PartitionRecord[]>;
  /** Frees the name. */
  removeDeleted(deleted: Pick<PartitionRecord, 'partition' | 'partition_key'>): Promise<void>;
}

export interface FileStore {
  /** The active record of a name (live or not, never a tombstone). */
  get(partition: string, fileId: string): Promise<FileRecord | null>;
  /** Records by surrogate key, tombstones included; missing keys are missing in the map. */
  getMany(fileKeys: readonly string[]): Promise<Map<string, FileRecord>>;
  /** Live files of a partition, by file id; those of one degraded stage if asked. */
  listLive(
    scope: Scope,
    partition: string,
    options?: { limit?: number | undefined; degradedStage?: string | undefined },
  ): Promise<FileRecord[]>;
  /** Live files of a partition that share a relationship id, by file id; the first of them when a limit is given. */
  listRelated(
    scope: Scope,
    partition: string,
    relationshipId: string,
    options?: { limit?: number },
  ): Promise<FileRecord[]>;
  /** Live files per partition; the only source of `file_count`. */
  countLive(partitions: readonly string[]): Promise<Map<string, number>>;
  /** Which of these tasks made a version that is live now. */
  liveTasks(taskIds: readonly string[]): Promise<string[]>;
  /** Files of a partition that a task is about to make live. */
  countPending(partition: string): Promise<number>;
  /** Embedders of the live files of a partition, by name. */
  listEmbedders(partition: string): Promise<string[]>;
  /** Live files by partition that hold vectors of an embedder. */
  countByEmbedder(embedder: string): Promise<Map<string, number>>;
  /** An embedder has another name from now on; its vectors stay where they are. */
  renameEmbedder(from: string, to: string): Promise<void>;
  /** What users have uploaded; the only source of a user's `file_count`. */
  countByUploader(userIds: readonly number[]): Promise<Map<number, UploaderCounts>>;
  /** Leaves the files of a deleted user without an uploader. */
  forgetUploader(userId: number): Promise<void>;
  /** Files in a workspace, by file id, tombstones left out; pending ones too. */
  listByWorkspace(workspaceKey: string): Promise<FileRecord[]>;
  /** Keys of the live files in a workspace, however many. */
  listWorkspaceKeys(workspaceKey: string): Promise<string[]>;
  /**
   * Puts a live file into a workspace of its partition. False when it is not live (any more), or in another partition
   * by now. Repeating is harmless.
   */
  attachWorkspace(file: Pick<FileRecord, 'file_key' | 'partition'>, workspaceKey: string): Promise<boolean>;
  /** Takes a file out of a workspace, whatever becomes of it. False when it was not in it. */
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
   * version's own metadata, do not say what the record says, the task is put into `chunk_updates`.
   */
  publish(
    fileKey: string,
    taskId: string,
    version: FileVersion,
    chunkPartition?: string,
  ): Promise<
    | { outcome: 'published'; previous: FileVersion | null }
    | { outcome: 'already' }
    | { outcome: 'superseded' }
  >;
  /** Clears `pending_task` if it is this task. True when it was. */
  releasePending(fileKey: string, taskId: string): Promise<boolean>;
  /** Turns an active record with a live version or a pending task into a tombstone; answers what it was before. */
  markDeleted(partition: string, fileId: string, fileKey?: string): Promise<FileRecord | null>;
  /**
   * Changes a present file's words, and its place when `to` is given, in one update guarded on the revision that was
   * read; `token` goes into `chunk_updates`. `exists`: the target has a file of this id.
   */
  change(input: {
    file: FileRecord;
    token: string;
    live: FileVersion | null;
    metadataPatch: Metadata | null;
    to?: Pick<PartitionRecord, 'partition' | 'partition_key'>;
  }): Promise<'changed' | 'stale' | 'exists'>;
  /** Puts a token into `chunk_updates` without a change: something is about to be done that a crash must not hide. */
  announce(fileKey: string, token: string): Promise<void>;
  /** Takes tokens out of `chunk_updates` unless the record has changed since that revision. False when it has. */
  settleChunkUpdates(fileKey: string, revision: number, tokens: readonly string[]): Promise<boolean>;
  /** Files with chunk updates announced before a point in time: who announced them has died. */
  listUnsettled(before: Date, limit: number): Promise<FileRecord[]>;
  /** Pending tasks of a partition. */
  listPending(partitionKey: string): Promise<{ fileKey: string; taskId: string; generation: number }[]>;
  /** Every file of a partition becomes a tombstone. */
  markPartitionDeleted(partitionKey: string): Promise<void>;
  listPartitionTombstones(partitionKey: string, limit: number): Promise<FileRecord[]>;
  /** Removes a tombstone for good. */
  removeTombstone(fileKey: string): Promise<void>;
  listTombstones(limit: number): Promise<FileRecord[]>;
  /** All records in batches, tombstones too; for the checker and the reconciler. */
  scan(): AsyncIterable<FileRecord>;
}

export interface TaskStore {
  insert(task: TaskRecord): Promise<void>;
  get(taskId: string): Promise<TaskRecord | null>;
  /** QUEUED or SERIALIZING → SERIALIZING, `started_at` set once. False when the task has ended. */
  begin(taskId: string): Promise<boolean>;
  /** Guarded on an active state. False when the task has ended: the caller stops working. */
  report(taskId: string, update: { stage?: Stage; progress?: number; attempt?: number }): Promise<boolean>;
  /** Notes what enrichment has added so far; harmless once the task has ended. */
  noteEnrichment(
    taskId: string,
    added: { derivedMetadata?: Metadata; contextParts?: number; degradedStages?: EnrichmentStage[] },
  ): Promise<void>;
  /** Active → final, once. False when it was final already. */
  finish(
    taskId: string,
    state: Extract<TaskState, 'COMPLETED' | 'FAILED' | 'CANCELLED'>,
    failure?: TaskFailure,
  ): Promise<boolean>;
  /** Active tasks among these end CANCELLED. */
  cancelMany(taskIds: readonly string[], failure: TaskFailure): Promise<void>;
  markHandedOver(taskId: string): Promise<void>;
  /** Sets `cleaned_at` of final tasks of a file up to a generation. */
  markCleaned(fileKey: string, upToGeneration: number): Promise<void>;
  listByFile(fileKey: string): Promise<TaskRecord[]>;
  /** Active tasks without a workflow, admitted before a point in time, oldest first. */
  listNotHandedOver(before: Date, limit: number): Promise<TaskRecord[]>;
  /** Active tasks that have been handed over and are older than a point in time, oldest first. */
  listActiveSince(before: Date, limit: number): Promise<TaskRecord[]>;
  /** Final tasks not yet cleaned up, finished before a point in time. */
  listUncleaned(before: Date, limit: number): Promise<TaskRecord[]>;
  remove(taskId: string): Promise<void>;
  scan(): AsyncIterable<TaskRecord>;
  /** Tasks in any of the states, of one user or (null) of all, newest first. */
  list(filter: { userId: number | null; states: readonly TaskState[]; limit: number }): Promise<TaskRecord[]>;
  countByState(): Promise<Record<TaskState, number>>;
  /** Active tasks of one user or (null) of all; counting stops at `most`. */
  countActive(userId: number | null, most: number): Promise<number>;
  /** A user's active tasks that have a workflow; counting stops at `most`. */
  countRunning(userId: number, most: number): Promise<number>;
  /** Per user with tasks that have no workflow yet: how many wait, and how many have one. */
  countTurns(): Promise<{ userId: number; waiting: number; running: number }[]>;
  /** A user's active tasks without a workflow, oldest first. */
  listWaiting(userId: number, limit: number): Promise<TaskRecord[]>;
  /** Removes records of tasks that ended before a point in time and were cleaned up after. Answers how many. */
  removeSettled(before: Date): Promise<number>;
}

/** Completion callbacks and what became of them. */
export interface CallbackStore {
  /** @throws AppError SERVICE_UNAVAILABLE when a token is given and SECRETS_KEY is not set */
  insert(callback: { taskId: string; url: string; token: string | null }): Promise<void>;
  get(taskId: string): Promise<CallbackRecord | null>;
  noteAttempt(taskId: string, result: { status: number | null; error: string | null }): Promise<void>;
  /** Waiting → something final, once. */
  settle(taskId: string, state: Exclude<CallbackState, 'waiting'>): Promise<void>;
  /** Waiting ones that were never tried, of before a point in time, oldest first. */
  listUntried(before: Date, limit: number): Promise<CallbackRecord[]>;
  remove(taskId: string): Promise<void>;
  /** Removes settled ones of before a point in time. */
  removeSettled(before: Date): Promise<void>;
}

/** Tells somebody outside, under the guard against private addresses. */
export interface CallbackClient {
  /**
   * One attempt. Answers the status, redirects included: they are not followed.
   * @throws AppError CALLBACK_REFUSED for an address that is not allowed, CALLBACK_FAILED when there is no answer
   */
  post(request: { url: string; token: string | null; body: string; signal?: AbortSignal }): Promise<number>;
  close(): Promise<void>;
}

/** What worker processes tell of themselves, and what is asked of them. */
export interface WorkerStore {
  /** Puts down a process's record anew. */
  report(worker: WorkerRecord): Promise<void>;
  withdraw(workerId: string): Promise<void>;
  /** Processes that reported since a point in time. */
  list(since: Date): Promise<WorkerRecord[]>;
  /** Asks every process to make this pool anew. */
  requestRestart(pool: string): Promise<void>;
  /** When each pool was last asked to. */
  restarts(): Promise<Map<string, Date>>;
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
  scan(): AsyncIterable<{ partition: string; digest: string; fileKey: string; holders: string[] }>;
}

export interface CounterStore {
  /** Global, ordered, never reused. */
  nextGeneration(): Promise<number>;
  /** Numbers of users, from 2 on: 1 is the administrator. */
  nextUserId(): Promise<number>;
}

export interface WorkspaceStore {
  /** @throws AppError WORKSPACE_EXISTS for an id in use in this partition */
  create(workspace: {
    workspace_key: string;
    workspace_id: string;
    partition: string;
    display_name: string | null;
    created_by: number;
  }): Promise<WorkspaceRecord>;
  /** Null for one that is being deleted. */
  get(partition: string, workspaceId: string): Promise<WorkspaceRecord | null>;
  /** Those of an id in any of some partitions. */
  find(partitions: readonly string[], workspaceId: string): Promise<WorkspaceRecord[]>;
  /** By surrogate key; those being deleted are missing in the map. */
  getMany(workspaceKeys: readonly string[]): Promise<Map<string, WorkspaceRecord>>;
  /** Workspaces of a partition, by id. */
  list(scope: Scope, partition: string): Promise<WorkspaceRecord[]>;
  /** Frees the id in one update and leaves a mark for the clean-up. Answers the record; null when there is none. */
  markDeleted(
    partition: string,
    workspaceId: string,
    options: { keepFiles: boolean },
  ): Promise<WorkspaceRecord | null>;
  /** Marked, and not yet removed; those marked before a point in time. */
  listDeleted(before: Date, limit: number): Promise<WorkspaceRecord[]>;
  /** Removes a marked workspace for good. */
  remove(workspaceKey: string): Promise<void>;
  /** Removes workspaces whose partition is gone, and their files with it, without a mark before. */
  removeMany(workspaceKeys: readonly string[]): Promise<void>;
  /** Leaves the workspaces of a deleted user without a creator. */
  forgetCreator(userId: number): Promise<void>;
}

/** Presets by type and name. */
export interface PresetStore {
  list(type?: PresetType): Promise<PresetRecord[]>;
  get<Type extends PresetType>(
    type: Type,
    name: string,
  ): Promise<Extract<PresetRecord, { preset_type: Type }> | null>;
  /** Inserts. One that is there because this very renaming was begun before is answered as it is. @throws AppError PRESET_EXISTS */
  create(preset: PresetRecord): Promise<PresetRecord>;
  /** Overwrites what was read; false when it was changed or removed since. */
  replace(before: PresetRecord, after: PresetRecord): Promise<boolean>;
  /** False when there is none. */
  remove(type: PresetType, name: string): Promise<boolean>;
  /**
   * Inserts what is missing; one that was seeded and never edited takes the new content; an edited one stays, and a
   * removed one stays away.
   */
  seed(preset: Pick<PresetRecord, 'name' | 'preset_type' | 'config'>): Promise<void>;
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
  /** Says which file version the blob belongs to, once admission has settled it. */
  assign(blobId: string, owner: { fileKey: string; generation: number }): Promise<void>;
  remove(blobId: string): Promise<void>;
  listByFile(fileKey: string): Promise<BlobInfo[]>;
  scan(): AsyncIterable<BlobInfo>;
  /** Chunks of blobs that never became complete (a killed gateway), older than a point in time. Answers how many. */
  removeIncomplete(before: Date): Promise<number>;
}

export interface SearchLegHit {
  chunk: StoredChunk;
  /** Raw score: BM25 as the engine gives it, or cosine in [-1, 1]. */
  score: number;
}

export interface ChunkStore {
  /**
   * Creates index and vector fields as needed; repeating is harmless.
   * @throws AppError VDB_SCHEMA_MIGRATION_REQUIRED when the store is of an older release (with `stored_schema_version`
   * among its details), or has one of the fields with another length
   */
  ensureSchema(fields: readonly { vectorField: string; dimension: number }[]): Promise<void>;
  /** For what needs the present schema. @throws AppError VDB_SCHEMA_MIGRATION_REQUIRED until it is there */
  requireSchema(): Promise<void>;
  /**
   * Writes unpublished chunks with their vectors; ids are derived, so writing twice is harmless.
   * @throws AppError VDB_INSERT_ERROR when the engine refuses a chunk, VDB_SCHEMA_MIGRATION_REQUIRED
   */
  put(
    chunks: readonly { chunk: StoredChunk; vector: readonly number[] }[],
    vectorField: string,
    signal?: AbortSignal,
  ): Promise<void>;
  /** Marks positions 0 … count-1 of a generation published and waits until searches see it. */
  publish(fileKey: string, generation: number, count: number, signal?: AbortSignal): Promise<void>;
  /**
   * Both legs in one round trip: BM25 over text and names, k-NN over one vector field. Only published chunks of
   * the given partitions (or all), optionally of one file or of some, and of those that a filter holds of, without the
   * generations that are known not to be live (numbers are global: none belongs to two files). `size` hits per leg.
   * @throws AppError VDB_SCHEMA_MIGRATION_REQUIRED, VDB_SEARCH_ERROR, VDB_COLLECTION_ERROR when there is no index
   */
  searchHybrid(request: {
    scope: Scope;
    partitions: readonly string[] | 'all';
    fileKey?: string;
    /** Any number of them. */
    fileKeys?: readonly string[];
    filter?: FilterExpression;
    withoutGenerations?: readonly number[];
    text: string;
    vector: readonly number[];
    vectorField: string;
    size: number;
    signal?: AbortSignal;
  }): Promise<{ lexical: SearchLegHit[]; dense: SearchLegHit[] }>;
  /** Chunks of a partition inside the scope, of whatever version; those that a refresh has not shown yet are left out. */
  countChunks(scope: Scope, partition: string): Promise<{ chunks: number; published: number }>;
  /** One chunk by id, published or not; the caller checks generation and scope. */
  get(chunkId: string): Promise<StoredChunk | null>;
  listByFile(fileKey: string, generation: number, limit?: number): Promise<StoredChunk[]>;
  /**
   * Published chunks of some generations, in the order of generation and position, a page at a time; each with the
   * vector that its embedder's field holds, when fields are named.
   */
  scanChunks(
    generations: readonly number[],
    options?: { vectorFields?: readonly string[]; signal?: AbortSignal },
  ): AsyncIterable<{ chunk: StoredChunk; vector: number[] | null }>;
  /** Chunks with their vectors (null: none) by position, from a position on. */
  listWithVectors(
    fileKey: string,
    generation: number,
    options: { vectorField: string; from: number; limit: number; signal?: AbortSignal },
  ): Promise<{ chunk: StoredChunk; vector: number[] | null }[]>;
  /**
   * Rewrites what positions 0 … count-1 of a generation say of their file, and waits until searches see it. Chunks
   * that are not there are left out.
   */
  annotate(
    fileKey: string,
    generation: number,
    count: number,
    words: Pick<StoredChunk, 'partition' | 'relationship_id' | 'parent_id' | 'metadata'>,
    signal?: AbortSignal,
  ): Promise<void>;
  /** Chunks per (file_key, generation) after a refresh; for clean-up, the checker and the reconciler. */
  scanGenerations(): AsyncIterable<{
    fileKey: string;
    generation: number;
    chunks: number;
    published: number;
  }>;
  /** Deletes every chunk of a file but the kept generations, up to and including a generation. Answers how many. */
  deleteGenerations(fileKey: string, options: { keep: readonly number[]; upTo: number }): Promise<number>;
  deleteFile(fileKey: string): Promise<number>;
}

export interface Embedder {
  endpointName: string;
  modelName: string;
  dimension: number;
  vectorField: string;
  /** So many texts are worth handing over at once; any number is taken. */
  batchSize: number;
  /** Tokens that fit into one input; null when unknown. */
  maxInputTokens: number | null;
  /** Raw cosine that a hit must reach where a search names none; absent: the service's setting. */
  similarityThreshold?: number;
  /**
   * Unit-length vectors, in the order of the texts. A text with nothing to embed in it may give the zero vector,
   * which the chunk store leaves out. A text that is too long for the model is never cut: see `embedder` in
   * `models/`.
   * @throws AppError EMBEDDING_API_ERROR, EMBEDDING_RESPONSE_ERROR, INFERENCE_REFUSED, CIRCUIT_BREAKER_OPEN, or the
   * signal's reason
   */
  embed(
    texts: readonly string[],
    options: { kind: 'document' | 'query'; signal?: AbortSignal },
  ): Promise<number[][]>;
}

/** Fields of the chat format that we hand on without knowing them. */
export type MoreFields = Readonly<Record<string, unknown>>;

export interface ChatMessage {
  role: 'system' | 'user' | 'assistant' | 'tool';
  content: string;
  /** `tool_calls`, `tool_call_id`, `name`, as they came. */
  more?: MoreFields;
}

export interface ChatOptions {
  temperature?: number;
  topP?: number;
  maxTokens?: number;
  stop?: string[];
  /** `tools`, `response_format`, `seed`, `logprobs` and the like: for the server to understand. */
  more?: MoreFields;
  signal?: AbortSignal;
}

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter' | 'function_call';

/** Log probability of one token, in the form of the OpenAI format. */
export interface TokenLogprob {
  token: string;
  [field: string]: unknown;
}

export interface ChatDelta {
  content: string;
  /** Other parts of the answer, in the form of the OpenAI format: pieces of `tool_calls`, `reasoning_content` … */
  more?: MoreFields;
  /** Of the tokens in `content`. */
  logprobs?: readonly TokenLogprob[];
  /** Set on the last delta only. */
  finishReason?: FinishReason;
  usage?: { promptTokens: number; completionTokens: number };
}

/** A whole answer. */
export interface ChatReply {
  content: string;
  finishReason: FinishReason;
  usage?: { promptTokens: number; completionTokens: number };
}

/**
 * Both methods throw AppError INFERENCE_ERROR, INFERENCE_CONNECTION_ERROR, INFERENCE_TIMEOUT, INFERENCE_REFUSED,
 * LLM_PARSING_ERROR, CONTEXT_TOO_LONG or CIRCUIT_BREAKER_OPEN, BAD_REQUEST for a field in `more` that changes the
 * answer and that the server does not know, or the signal's reason when aborted.
 */
export interface LanguageModel {
  endpointName: string;
  modelName: string;
  contextTokens: number;
  /** Most tokens of an answer where a request names no number; absent: the service's setting. */
  answerTokens?: number;
  /** Ends early, and stops the model, when the signal aborts or the consumer returns. */
  stream(messages: readonly ChatMessage[], options: ChatOptions): AsyncIterable<ChatDelta>;
  /** The answer in one piece, for steps that nobody watches word by word. */
  complete(messages: readonly ChatMessage[], options: ChatOptions): Promise<ChatReply>;
}

/** A model that reads a question and a text together and says how well the one answers the other. */
export interface Reranker {
  endpointName: string;
  modelName: string;
  /**
   * A score for each text, in their order; greater is better, and scores of two questions do not compare.
   * @throws AppError INFERENCE_ERROR with the status that the server answered, INFERENCE_CONNECTION_ERROR,
   * INFERENCE_TIMEOUT, INFERENCE_REFUSED, CIRCUIT_BREAKER_OPEN, or the signal's reason
   */
  rerank(query: string, texts: readonly string[], options: { signal?: AbortSignal }): Promise<number[]>;
}

/** Registered model servers; the default of each type is kept in one settings document. */
export interface ModelEndpointStore {
  /** By type and name. */
  list(type?: ModelType): Promise<ModelEndpoint[]>;
  get(type: ModelType, name: string): Promise<ModelEndpoint | null>;
  /** Inserts if (type, name) is missing; an existing record stays as it is. */
  seed(endpoint: ModelEndpoint): Promise<void>;
  /** Inserts or overwrites. */
  save(endpoint: ModelEndpoint): Promise<void>;
  /**
   * Inserts. One that is there because this very renaming was begun before is answered as it is.
   * @throws AppError MODEL_ENDPOINT_EXISTS
   */
  create(endpoint: ModelEndpoint): Promise<ModelEndpoint>;
  /** Overwrites what was read; false when it was changed, probed or removed since. */
  replace(before: ModelEndpoint, after: ModelEndpoint): Promise<boolean>;
  /** False when there is none. */
  remove(type: ModelType, name: string): Promise<boolean>;
  /**
   * Writes down what a probe told, unless the record names another server or model by now or has another dimension
   * already: vectors of two lengths must never meet in one field. Answers the record as it is afterwards.
   */
  recordProbe(probed: ModelEndpoint, facts: ProbedFacts, at: Date): Promise<ModelEndpoint | null>;
  /** `provisional`: chosen for want of anything better, see `settleDefault`. */
  setDefaultIfUnset(type: ModelType, name: string, options?: { provisional?: boolean }): Promise<void>;
  /** Replaces a provisional default; any other stays. */
  settleDefault(type: ModelType, name: string): Promise<void>;
  setDefault(type: ModelType, name: string): Promise<void>;
  /** The default goes over to another name, or (null) there is none any more; only while it is `from`. */
  moveDefault(type: ModelType, from: string, to: string | null): Promise<void>;
  defaults(): Promise<Partial<Record<ModelType, string>>>;
}

export interface ModelRegistry {
  list(type?: ModelType): Promise<(ModelEndpoint & { is_default: boolean })[]>;
  defaultName(type: ModelType): Promise<string | null>;
  /**
   * Its vector field is in the store. A server that was never asked before is probed first.
   * @throws AppError MODEL_ENDPOINT_NOT_FOUND, or that the server cannot be used
   */
  embedder(name: string): Promise<Embedder>;
  /** The default one when no name is given, or `default`. @throws AppError MODEL_ENDPOINT_NOT_FOUND */
  languageModel(name?: string): Promise<LanguageModel>;
  /** The default one when no name is given; null without one. @throws AppError MODEL_ENDPOINT_NOT_FOUND */
  reranker(name?: string): Promise<Reranker | null>;
  /**
   * Asks the server of an endpoint for its list of models and looks for the endpoint's one in it.
   * @throws AppError MODEL_ENDPOINT_NOT_FOUND when it is not registered, others when the model cannot be used
   */
  check(type: ModelType, name: string, signal?: AbortSignal): Promise<void>;
}

/** What the gateway asks of Temporal. Each call may fail when Temporal is away; records and the sweep make it good. */
export interface WorkflowStarter {
  startIndexing(task: TaskRecord): Promise<void>;
  cancelIndexing(task: Pick<TaskRecord, 'file_key' | 'generation'>): Promise<void>;
  startCleaning(fileKey: string, generation: number): Promise<void>;
  /** There are tasks that wait for their turn. */
  wakeDispatcher(): Promise<void>;
  /** The words of a large file's chunks follow its record. */
  startSettling(fileKey: string, token: string): Promise<void>;
  startCleaningPartition(deleted: Pick<PartitionRecord, 'partition' | 'partition_key'>): Promise<void>;
  ping(): Promise<void>;
}

/** Everything that reaches outside, behind ports. Made by `connect.ts`. */
/** What was asked of a rate limit, and what is left of it. */
export interface RateVerdict {
  allowed: boolean;
  remaining: number;
  /** Milliseconds until the window ends; 0 when none is open. */
  resetMs: number;
}

/**
 * Counts in fixed windows, shared by all gateways where there is a store for it. A limit is a convenience for the
 * service and never a reason for a request to fail: no method rejects, and none waits for a store that is away.
 */
export interface RateLimits {
  /** Takes one of what `rate` allows `key` under `name`. A refused one counts as well, as long as its window lasts. */
  take(name: string, rate: Rate, key: string): Promise<RateVerdict>;
  /** The same question without taking any. */
  peek(name: string, rate: Rate, key: string): Promise<RateVerdict>;
  close(): Promise<void>;
}

export interface Adapters {
  users: UserStore;
  quotas: QuotaStore;
  partitions: PartitionStore;
  files: FileStore;
  tasks: TaskStore;
  workers: WorkerStore;
  callbacks: CallbackStore;
  callbackClient: CallbackClient;
  claims: ClaimStore;
  counters: CounterStore;
  workspaces: WorkspaceStore;
  presets: PresetStore;
  blobs: BlobStore;
  chunks: ChunkStore;
  models: ModelRegistry;
  endpoints: ModelEndpointStore;
  modelServers: ModelServers;
  prompts: PromptStore;
  promptSource: PromptSource;
  /** One probe per engine, each rejecting when its engine cannot be used. */
  probes: { mongodb(): Promise<void>; opensearch(): Promise<void> };
  close(): Promise<void>;
}
