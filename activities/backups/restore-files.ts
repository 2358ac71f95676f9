import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { AppError } from '../../schemas/app-error.js';
import type { FileRecord } from '../../schemas/documents/documents.js';
import type { PartitionRecord } from '../../schemas/documents/partitions.js';
import type { ModelEndpoint } from '../../schemas/models/model-endpoints.js';
import { fillVectors } from '../documents/fill-vectors.js';
import { toVersionEntries } from '../documents/metadata-entries.js';
import type { Adapters } from '../ports/adapters.js';
import type { RecordArchive } from '../ports/backups.js';
import type { ChunkEntry } from '../ports/chunks.js';
import { readChunkLines } from './chunk-lines.js';
import type { ChunkLine } from './chunk-lines.js';
import { createChunkSpool } from './chunk-spool.js';
import type { ChunkSpool } from './chunk-spool.js';
import type { PartEntry } from './part-archive.js';
import type { UploadOwner } from './write-files.js';
import { restoredFile, restoredPendingTask } from './restored-records.js';
import type { StoredFile, StoredTask } from './stored-records.js';
import { placeFile } from './taken-names.js';

export type FileTarget = Pick<
  Adapters,
  'blobs' | 'chunks' | 'endpoints' | 'models' | 'files' | 'claims' | 'counters' | 'quotas'
> & {
  archive: RecordArchive;
  /** Where chunks wait for the record of their file that are too many for the memory. */
  scratchDirectory: string;
};

export interface RestoredCounts {
  files: number;
  chunks: number;
  /** Chunks that were embedded again. */
  embedded: number;
  /** Files whose partition was deleted while the backup was made, and those whose name a newer one has. */
  left_out: number;
  /** Uploads that are indexed once the sweep sees them. */
  to_be_indexed: number;
}

/** Files whose chunks are written together, and how much these may be before they are. */
const FILES_AT_ONCE = 50;
const MAX_WAITING_BYTES = 4 * 1024 * 1024;
const CHUNKS_AT_ONCE = 500;

/** An upload that is being written, while its pieces come. */
interface Upload {
  uploadId: string;
  sink: PassThrough;
  written: Promise<unknown>;
}

/** A file of which the record has not come yet. */
interface OpenFile {
  key: string;
  owners: readonly UploadOwner[];
  uploads: Upload[];
  chunks: ChunkSpool;
}

/** A file that is complete, but for what is written for many at once. */
interface ReadFile {
  file: StoredFile;
  task: StoredTask | null;
  chunks: ChunkSpool;
}

/**
 * Puts files back. Their parts are read one after the other; what came without its record, since the file was changed
 * while the backup was made, is removed again. Records are written before the chunks: the reconciler removes chunks
 * that no record knows. Repeating it from the beginning of a part changes nothing.
 */
export function createFileRestorer(target: FileTarget, options: { vectors: boolean; signal: AbortSignal }) {
  const { signal } = options;
  const counts: RestoredCounts = { files: 0, chunks: 0, embedded: 0, left_out: 0, to_be_indexed: 0 };
  let open: OpenFile | null = null;
  let complete: ReadFile[] = [];

  const discard = async (file: OpenFile): Promise<void> => {
    await file.chunks.remove();
    for (const { sink, written, uploadId } of file.uploads) {
      sink.destroy(new AppError('BACKUP_NOT_USABLE', 'The file is not complete.'));
      await written.catch(() => undefined);
      await target.blobs.remove(uploadId);
    }
  };

  const openUpload = (file: OpenFile, uploadId: string): Upload => {
    const sink = new PassThrough();
    const owner = file.owners.find((each) => each.uploadId === uploadId);
    if (owner === undefined) throw new AppError('BACKUP_NOT_USABLE', `the upload ${uploadId} has no owner.`);
    const { taskId, generation } = owner;
    const written = target.blobs.write(
      { blobId: uploadId, kind: 'upload', fileKey: file.key, generation, taskId },
      sink,
      signal,
    );
    // Looked at when the record comes.
    written.catch(() => undefined);
    const upload = { uploadId, sink, written };
    file.uploads.push(upload);
    return upload;
  };

  const writePiece = async (file: OpenFile, uploadId: string, bytes: Uint8Array): Promise<void> => {
    const present = file.uploads.at(-1);
    const upload = present?.uploadId === uploadId ? present : openUpload(file, uploadId);
    if (!upload.sink.write(bytes)) await Promise.race([once(upload.sink, 'drain'), upload.written]);
  };

  const close = async (file: OpenFile, text: string): Promise<void> => {
    const [record, task] = text.split('\n').map((line) => target.archive.decode(line));
    for (const { sink, written } of file.uploads) {
      sink.end();
      await written;
    }
    complete.push({
      file: record as StoredFile,
      task: (task as StoredTask | undefined) ?? null,
      chunks: file.chunks,
    });
  };

  return {
    counts,

    /** Whether a file goes on in the next part. */
    isOpen: (): boolean => open !== null,

    async take({ name, bytes }: PartEntry): Promise<void> {
      signal.throwIfAborted();
      const [, key = '', what = '', uploadId = ''] = name.split('/');
      if (what === 'begin.json') {
        if (open !== null) await discard(open);
        const { uploads: owners } = JSON.parse(Buffer.from(bytes).toString('utf8')) as {
          uploads: UploadOwner[];
        };
        open = { key, owners, uploads: [], chunks: createChunkSpool(target.scratchDirectory) };
        return;
      }
      if (open?.key !== key) throw new AppError('BACKUP_NOT_USABLE', `${name} stands where no file is open.`);
      if (what === 'upload') await writePiece(open, uploadId, bytes);
      else if (what === 'chunks.ndjson') await open.chunks.add(bytes);
      else {
        await close(open, Buffer.from(bytes).toString('utf8'));
        open = null;
      }
      const waiting = complete.reduce((sum, { chunks }) => sum + chunks.size(), 0);
      if (complete.length >= FILES_AT_ONCE || waiting >= MAX_WAITING_BYTES) await this.flush();
    },

    /** Writes what is complete. */
    async flush(): Promise<void> {
      if (complete.length > 0) await restoreFiles(target, complete, counts, options);
      for (const { chunks } of complete) await chunks.remove();
      complete = [];
    },

    /** The last part ended. */
    async end(): Promise<void> {
      if (open !== null) await discard(open);
      open = null;
      await this.flush();
    },

    /** Removes what it has on disk, after a failure as well. Uploads stay: those of a repeated attempt are in use. */
    async close(): Promise<void> {
      for (const { chunks } of [...complete, ...(open === null ? [] : [open])]) await chunks.remove();
    },
  };
}

async function restoreFiles(
  target: FileTarget,
  files: readonly ReadFile[],
  counts: RestoredCounts,
  options: { vectors: boolean; signal: AbortSignal },
): Promise<void> {
  const kept = await writeRecords(target, await referring(target, files, counts), counts);
  const records = await target.files.getMany(kept.map(({ file }) => file._id));
  await writeChunks(target, kept, { records, counts, ...options });
  counts.to_be_indexed += kept.filter(({ task }) => task !== null).length;
}

/** Without those whose partition is not there. */
async function referring(
  { archive, blobs }: FileTarget,
  files: readonly ReadFile[],
  counts: RestoredCounts,
): Promise<ReadFile[]> {
  const unique = <T>(values: readonly T[]): T[] => [...new Set(values)];
  const partitions = await archive.getMany('partitions', unique(files.map(({ file }) => file.partition)));
  const users = await archive.existing(
    'users',
    unique(files.flatMap(({ file }) => (file.created_by === null ? [] : [file.created_by]))),
  );
  const workspaces = await archive.existing(
    'workspaces',
    unique(files.flatMap(({ file }) => file.workspaces ?? [])),
  );
  const kept: ReadFile[] = [];
  for (const read of files) {
    const { partition, partition_key: key, created_by: userId } = read.file;
    const found = partitions.get(partition);
    const hasPartition =
      found !== undefined &&
      found['deleted_at'] === undefined &&
      (found['partition_key'] ?? partition) === (key ?? partition);
    const hasUser = userId !== null && users.has(userId);
    const file = restoredFile(read.file, { hasPartition, hasUser, workspaces });
    if (file !== null) kept.push({ ...read, file });
    else await leaveOut(blobs, read, counts);
  }
  return kept;
}

async function leaveOut(
  blobs: Adapters['blobs'],
  { file, task }: ReadFile,
  counts: RestoredCounts,
): Promise<void> {
  counts.left_out += 1;
  for (const uploadId of [file.live?.upload_id, task?.upload.upload_id])
    if (uploadId !== undefined) await blobs.remove(uploadId);
}

/**
 * Records that are not there yet: a part that is read again finds them, and what has become of them meanwhile stays. A
 * task comes behind its file, since the sweep gives up one whose file does not name it. It begins anew, under a
 * generation that its file admits. Answers the files that are there; of two with one name that is the newer one.
 */
async function writeRecords(
  target: FileTarget,
  files: readonly ReadFile[],
  counts: RestoredCounts,
): Promise<ReadFile[]> {
  const { archive, counters } = target;
  const there = await archive.getMany(
    'files',
    files.map(({ file }) => file._id),
  );
  const tasks = await archive.existing(
    'tasks',
    files.flatMap(({ task }) => (task === null ? [] : [task._id])),
  );
  const kept = new Map<string, ReadFile>();
  for (const read of files) {
    const { file, task } = read;
    const present = there.get(file._id) as StoredFile | undefined;
    const generation =
      present?.latest_generation ??
      (task === null ? file.latest_generation : await counters.nextGeneration());
    // Of a task that was gone when the file was read nothing is left to wait for.
    const record = { ...file, pending_task: task === null ? null : task._id, latest_generation: generation };
    const { placed, former } =
      present === undefined
        ? await placeFile(target, record)
        : { placed: present.tombstone_at === undefined, former: null };
    if (!placed) {
      await leaveOut(target.blobs, read, counts);
      continue;
    }
    kept.set(file._id, read);
    if (former === null) counts.files += 1;
    else {
      // In its place, whether that one was of these files or of some before.
      kept.delete(former);
      counts.left_out += 1;
    }
    const stored = present ?? record;
    const isToBegin = task !== null && stored.pending_task === task._id && !tasks.has(task._id);
    const begun = isToBegin ? restoredPendingTask(task, generation) : null;
    await own(target, stored, begun);
    if (begun !== null) await archive.write('tasks', [begun]);
  }
  return [...kept.values()];
}

/** What follows from the record: the claims on its bytes, and the place of a task that waits. */
async function own(
  { blobs, claims, quotas }: FileTarget,
  file: StoredFile,
  task: StoredTask | null,
): Promise<void> {
  const { partition, file_id: fileId, _id: fileKey, live, attached } = file;
  // The attachments of a mail claim nothing.
  const claim = async (taskId: string, digest: string): Promise<unknown> =>
    attached === undefined ? claims.claim({ partition, digest, fileKey, fileId, taskId }) : null;
  if (live !== null) await claim(live.task_id, live.content_sha256);
  if (task === null) return;
  await blobs.assign(task.upload.upload_id, { fileKey, generation: task.generation });
  await claim(task._id, task.upload.content_sha256);
  const { turn } = await quotas.pending(task.user_id);
  await quotas.reserve({ userId: task.user_id, taskId: task._id, room: Number.MAX_SAFE_INTEGER, turn });
}

/** The chunks of some files, with the words of their records. */
async function* restoredChunks(
  files: readonly ReadFile[],
  records: ReadonlyMap<string, FileRecord>,
): AsyncGenerator<ChunkLine> {
  for (const { file, chunks } of files) {
    const record = records.get(file._id)!;
    const live = record.live!;
    const words = {
      partition: record.partition,
      file_id: record.file_id,
      relationship_id: live.relationship_id,
      parent_id: live.parent_id,
      metadata: toVersionEntries(live),
    };
    for await (const piece of chunks.pieces())
      for (const { chunk, ...rest } of readChunkLines(piece))
        yield { chunk: { ...chunk, ...words, published: true }, ...rest };
  }
}

/**
 * Chunks say what the record says, whatever they said when they were read: where a file was renamed or moved while the
 * backup was made, the two were read at different moments.
 */
async function writeChunks(
  target: FileTarget,
  files: readonly ReadFile[],
  {
    records,
    counts,
    vectors,
    signal,
  }: {
    records: ReadonlyMap<string, FileRecord>;
    counts: RestoredCounts;
    vectors: boolean;
    signal: AbortSignal;
  },
): Promise<void> {
  const { chunks, endpoints } = target;
  const embedders = new Map((await endpoints.list('embedder')).map((endpoint) => [endpoint.name, endpoint]));
  const byEmbedder = new Map<string, ReadFile[]>();
  for (const read of files) {
    const name = read.file.live?.embedder;
    // Replaced meanwhile, by a task that was restored with it.
    const isLive = records.get(read.file._id)?.live?.generation === read.file.live?.generation;
    if (name !== undefined && isLive) byEmbedder.set(name, [...(byEmbedder.get(name) ?? []), read]);
  }
  for (const [name, group] of byEmbedder) {
    const { vectorField, dimension } = fieldOf(name, embedders.get(name));
    await chunks.ensureField({ vectorField, dimension });
    const nothing = Array.from({ length: dimension }, () => 0);
    let batch: ChunkEntry[] = [];
    const put = async (): Promise<void> => {
      await chunks.put(batch, vectorField, signal);
      counts.chunks += batch.length;
      batch = [];
    };
    for await (const { chunk, vector, context } of restoredChunks(group, records)) {
      batch.push({ chunk, vector: vector ?? nothing, context });
      if (batch.length === CHUNKS_AT_ONCE) await put();
    }
    if (batch.length > 0) await put();
    if (!vectors) counts.embedded += await embed(target, group, name, signal);
    counts.embedded += await followSwitches(target, group, name, signal);
  }
}

/** Gives the chunks of some files vectors of an embedder. Answers how many had none. */
async function embed(
  target: FileTarget,
  files: readonly ReadFile[],
  embedder: string,
  signal: AbortSignal,
): Promise<number> {
  await target.chunks.show(signal);
  const generations = files.map(({ file }) => file.live!.generation);
  return (await fillVectors(target, { generations, embedder, signal })).embedded;
}

/**
 * A backup reads files before partitions: where a partition was moved to another embedder in between, its files come
 * with the vectors of the one before, by which no search of it looks any more. Answers how many chunks were embedded.
 */
async function followSwitches(
  target: FileTarget,
  files: readonly ReadFile[],
  before: string,
  signal: AbortSignal,
): Promise<number> {
  const names = [...new Set(files.map(({ file }) => file.partition))];
  const partitions = await target.archive.getMany('partitions', names);
  let embedded = 0;
  for (const name of names) {
    const { embedder, swapped_from: former = [] } = (partitions.get(name) ?? {}) as Partial<PartitionRecord>;
    if (embedder === undefined || embedder === before || !former.includes(before)) continue;
    const own = files.filter(({ file }) => file.partition === name);
    embedded += await embed(target, own, embedder, signal);
    await target.files.switchEmbedder(own[0]!.file.partition_key ?? name, before, embedder);
  }
  return embedded;
}

/** @throws AppError BACKUP_NOT_USABLE */
function fieldOf(
  name: string,
  endpoint: Pick<ModelEndpoint, 'vector_field' | 'dimension'> | undefined,
): { vectorField: string; dimension: number } {
  const { vector_field: vectorField = null, dimension = null } = endpoint ?? {};
  if (vectorField === null || dimension === null)
    throw new AppError(
      'BACKUP_NOT_USABLE',
      `The embedder ${name} of some files is not registered, or was never asked for the length of its vectors.`,
    );
  return { vectorField, dimension };
}
