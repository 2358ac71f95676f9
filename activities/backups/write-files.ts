import { AppError } from '../../schemas/app-error.js';
import type { Adapters } from '../ports/adapters.js';
import type { RecordArchive } from '../ports/backups.js';
import type { HeldChunk } from '../ports/chunks.js';
import { encodeVector } from './chunk-lines.js';
import type { PartWriter } from './part-writer.js';
import type { StoredFile, StoredTask } from './stored-records.js';

type Stores = Pick<Adapters, 'blobs' | 'chunks' | 'endpoints'> & { archive: RecordArchive };

/** Upload bytes in one file of a part. */
const PIECE_BYTES = 8 * 1024 * 1024;
/** Chunks in one file of a part. */
const CHUNKS_A_PIECE = 500;
/** A file that is changed while it is read is read again; so often in a row it does not happen. */
const ATTEMPTS = 20;

interface FileCounts {
  files: number;
  uploads: number;
  upload_bytes: number;
  chunks: number;
  /** Files that lack some of the chunks that their record names. */
  incomplete_files: number;
}

function noFiles(): FileCounts {
  return { files: 0, uploads: 0, upload_bytes: 0, chunks: 0, incomplete_files: 0 };
}

/**
 * Writes files with the bytes and chunks of one generation each. The record is read again behind them: clean-up removes
 * a generation only after the record has let go of it, so what was read under a record that still names the generation
 * is whole. A file that was replaced or deleted meanwhile is read again, or left out. The record comes behind its bytes
 * and chunks; without it they are nothing.
 */
export async function writeFiles(
  stores: Stores,
  writer: PartWriter,
  page: readonly StoredFile[],
  options: { vectors: boolean; closeFull(): Promise<void>; signal: AbortSignal },
): Promise<FileCounts> {
  const counts = noFiles();
  const fields = await vectorFields(stores.endpoints);
  for (const found of page) {
    let file: StoredFile | undefined = found;
    for (let attempt = 0; file !== undefined && isKept(file); attempt += 1) {
      options.signal.throwIfAborted();
      if (attempt === ATTEMPTS)
        throw new AppError('STORAGE_ERROR', `The file ${file._id} is changed all the time.`);
      const task = await pendingTask(stores.archive, file);
      writer.add(
        `files/${file._id}/begin.json`,
        Buffer.from(JSON.stringify({ uploads: ownersOf(file, task) })),
      );
      const written = await writeContents(stores, writer, { file, task, fields, ...options });
      const again: StoredFile | undefined = await readFile(stores.archive, file._id);
      if (again !== undefined && isSameContent(file, again)) {
        // Metadata or the place may have changed meanwhile: chunks say what the record says once they are restored.
        const lines = [again, ...(task === null ? [] : [task])];
        const text = lines.map((line) => stores.archive.encode(line)).join('\n');
        writer.add(`files/${file._id}/record.ndjson`, Buffer.from(text));
        writer.count(1);
        addUp(counts, written);
        break;
      }
      file = again;
    }
    if (writer.isFull()) await options.closeFull();
  }
  return counts;
}

/** A tombstone waits for its clean-up, and a record without anything is one that a failed upload left. */
function isKept(file: StoredFile): boolean {
  return file.tombstone_at === undefined && (file.live !== null || file.pending_task !== null);
}

function isSameContent(before: StoredFile, now: StoredFile): boolean {
  return (
    isKept(now) &&
    before.live?.generation === now.live?.generation &&
    before.pending_task === now.pending_task
  );
}

async function readFile(archive: RecordArchive, id: string): Promise<StoredFile | undefined> {
  return (await archive.getMany('files', [id])).get(id) as StoredFile | undefined;
}

/** An upload that was taken and is not indexed yet goes along, so that what was answered 201 is not lost. */
async function pendingTask(archive: RecordArchive, file: StoredFile): Promise<StoredTask | null> {
  if (file.pending_task === null) return null;
  const found = (await archive.getMany('tasks', [file.pending_task])).get(file.pending_task);
  return (found as StoredTask | undefined) ?? null;
}

/** Whose the uploads of a file are; beside its bytes, which are written before the record is read. */
export interface UploadOwner {
  uploadId: string;
  taskId: string;
  generation: number;
}

function ownersOf({ live }: StoredFile, task: StoredTask | null): UploadOwner[] {
  return [
    ...(live === null
      ? []
      : [{ uploadId: live.upload_id, taskId: live.task_id, generation: live.generation }]),
    ...(task === null
      ? []
      : [{ uploadId: task.upload.upload_id, taskId: task._id, generation: task.generation }]),
  ];
}

type Fields = ReadonlyMap<string, string>;

async function vectorFields(endpoints: Stores['endpoints']): Promise<Fields> {
  const listed = await endpoints.list('embedder');
  return new Map(
    listed.flatMap(({ name, vector_field }) => (vector_field === null ? [] : [[name, vector_field]])),
  );
}

interface Contents {
  file: StoredFile;
  task: StoredTask | null;
  fields: Fields;
  vectors: boolean;
  closeFull(): Promise<void>;
  signal: AbortSignal;
}

async function writeContents(stores: Stores, writer: PartWriter, contents: Contents): Promise<FileCounts> {
  const { file, task } = contents;
  const counts = noFiles();
  counts.files = 1;
  for (const { uploadId } of ownersOf(file, task))
    addUp(counts, await writeUpload(stores, writer, uploadId, contents));
  if (file.live === null) return counts;
  counts.chunks = await writeChunks(stores, writer, contents);
  if (counts.chunks !== file.live.chunk_count) counts.incomplete_files = 1;
  return counts;
}

/** Where uploads are not kept there is none of an indexed file. */
async function writeUpload(
  { blobs }: Stores,
  writer: PartWriter,
  uploadId: string,
  { file, closeFull, signal }: Contents,
): Promise<Partial<FileCounts>> {
  const bytes = await blobs.read(uploadId).catch((error: unknown) => {
    if (error instanceof AppError && error.code === 'NOT_FOUND') return null;
    throw error;
  });
  if (bytes === null) return {};
  let held: Uint8Array[] = [];
  let heldBytes = 0;
  let total = 0;
  const put = async (): Promise<void> => {
    writer.add(`files/${file._id}/upload/${uploadId}`, Buffer.concat(held));
    total += heldBytes;
    held = [];
    heldBytes = 0;
    if (writer.isFull()) await closeFull();
  };
  for await (const part of bytes as AsyncIterable<Uint8Array>) {
    signal.throwIfAborted();
    held.push(part);
    heldBytes += part.length;
    if (heldBytes >= PIECE_BYTES) await put();
  }
  // An empty one as well.
  if (heldBytes > 0 || total === 0) await put();
  return { uploads: 1, upload_bytes: total };
}

async function writeChunks(
  { chunks }: Stores,
  writer: PartWriter,
  { file, fields, vectors, closeFull, signal }: Contents,
): Promise<number> {
  const { generation, embedder } = file.live!;
  const field = vectors ? fields.get(embedder) : undefined;
  let lines: string[] = [];
  let written = 0;
  const put = async (): Promise<void> => {
    if (lines.length === 0) return;
    writer.add(`files/${file._id}/chunks.ndjson`, Buffer.from(lines.join('\n')));
    written += lines.length;
    lines = [];
    if (writer.isFull()) await closeFull();
  };
  const scanned = chunks.scanChunks([generation], {
    ...(field === undefined ? {} : { vectorFields: [field] }),
    metadata: true,
    signal,
  });
  for await (const held of scanned) {
    if (held.chunk.file_key !== file._id) continue;
    lines.push(chunkLine(held));
    if (lines.length === CHUNKS_A_PIECE) await put();
  }
  await put();
  return written;
}

function chunkLine({ chunk, vector, context }: HeldChunk): string {
  return JSON.stringify({
    chunk,
    vector: vector === null ? null : encodeVector(vector),
    ...(context !== null && { context }),
  });
}

function addUp(counts: FileCounts, more: Partial<FileCounts>): void {
  for (const [name, value] of Object.entries(more) as [keyof FileCounts, number][]) counts[name] += value;
}
