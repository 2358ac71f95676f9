import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { Binary, ObjectId } from 'mongodb';
import { AppError } from '../../../../schemas/app-error.js';
import type { BlobStore } from '../../../ports/files.js';
import { BLOB_CHUNK_BYTES, INLINE_BYTES } from './blob-collections.js';
import type { BlobCollections, BlobFileDocument, BlobWriteDocument } from './blob-collections.js';
import { discardAttempt } from './discard-attempt.js';
import { isDuplicateKey } from '../mongo-errors.js';

/** Room that an attempt reserves for chunks at a time; one update of its entry for so many MiB. */
const CHUNKS_RESERVED = 32;
const TOUCH_EVERY_MS = 15_000;

/**
 * Streams a source into GridFS. Our own writer and not the driver's upload stream, because each chunk is awaited:
 * memory stays at one chunk, and after an abort no insert under way can land behind the removal.
 */
export async function writeBlob(
  collections: BlobCollections,
  blob: Parameters<BlobStore['write']>[0],
  source: Readable,
  signal?: AbortSignal,
): Promise<{ size: number; sha256: string }> {
  // A source that fails while we await the database would otherwise be an unhandled error; iteration reports it.
  source.on('error', () => {});
  const stop = () => source.destroy(signal?.reason as Error);
  if (signal?.aborted === true) stop();
  signal?.addEventListener('abort', stop, { once: true });
  const attempt: BlobWriteDocument = {
    _id: new ObjectId(),
    blob_id: blob.blobId,
    touched_at: new Date(),
    chunks: CHUNKS_RESERVED,
  };
  try {
    const written = await writeChunks(collections, attempt, source);
    const { size, sha256, inline } = written;
    signal?.throwIfAborted();
    await (inline === undefined ? complete : show)(collections, {
      _id: attempt._id,
      length: size,
      chunkSize: BLOB_CHUNK_BYTES,
      uploadDate: new Date(),
      filename: blob.blobId,
      metadata: {
        kind: blob.kind,
        file_key: blob.fileKey,
        generation: blob.generation,
        task_id: blob.taskId,
        sha256,
      },
      ...(inline !== undefined && { inline }),
    });
    return { size, sha256 };
  } catch (error) {
    source.destroy();
    // When the database is what failed this fails too, and is left to `removeIncomplete`.
    await discardAttempt(collections, attempt).catch(() => {});
    throw signal?.aborted === true ? signal.reason : error;
  } finally {
    signal?.removeEventListener('abort', stop);
  }
}

async function writeChunks(
  { chunks, writes }: BlobCollections,
  attempt: BlobWriteDocument,
  source: Readable,
): Promise<{ size: number; sha256: string; inline?: Binary }> {
  const hash = createHash('sha256');
  const buffer = Buffer.allocUnsafe(BLOB_CHUNK_BYTES);
  let filled = 0;
  let size = 0;
  let n = 0;
  const touch = async (reserved: number) => {
    attempt.touched_at = new Date();
    attempt.chunks = reserved;
    const { touched_at } = attempt;
    await writes.updateOne({ _id: attempt._id }, { $set: { touched_at, chunks: reserved } });
  };
  const flush = async () => {
    // Nothing was written for what might have stayed small: only now is there something to be found after a crash.
    if (n === 0) await writes.insertOne(attempt);
    if (n === attempt.chunks) await touch(n + CHUNKS_RESERVED);
    const data = new Binary(filled === buffer.length ? buffer : buffer.subarray(0, filled));
    await chunks.insertOne({ _id: new ObjectId(), files_id: attempt._id, n, data });
    n += 1;
    filled = 0;
  };
  for await (const given of source as AsyncIterable<Buffer | string>) {
    const bytes = typeof given === 'string' ? Buffer.from(given) : given;
    hash.update(bytes);
    size += bytes.length;
    for (let offset = 0; offset < bytes.length;) {
      const taken = Math.min(bytes.length - offset, buffer.length - filled);
      bytes.copy(buffer, filled, offset, offset + taken);
      filled += taken;
      offset += taken;
      if (filled === buffer.length) await flush();
    }
    if (Date.now() - attempt.touched_at.getTime() > TOUCH_EVERY_MS) await touch(attempt.chunks);
  }
  // A source destroyed without an error before its end must not pass for a short file.
  if (!source.readableEnded) throw new AppError('BAD_REQUEST', 'The upload ended before it was complete.');
  const sha256 = hash.digest('hex');
  if (size < INLINE_BYTES) return { size, sha256, inline: new Binary(buffer.subarray(0, size)) };
  if (filled > 0) await flush();
  return { size, sha256 };
}

/** What was written in chunks becomes visible, unless it stalled and was removed meanwhile. */
async function complete(collections: BlobCollections, document: BlobFileDocument): Promise<void> {
  const { writes } = collections;
  const { _id } = document;
  // Renewed and checked in one update, as `removeIncomplete` does from its side: only one of the two can win.
  const { matchedCount } = await writes.updateOne(
    { _id, doomed: { $exists: false } },
    { $set: { touched_at: new Date() } },
  );
  if (matchedCount === 0)
    throw new AppError('STORAGE_ERROR', 'The write stalled for too long and was removed.');
  await show(collections, document);
  await writes.deleteOne({ _id });
}

/** The files document makes the blob visible, all at once. */
async function show(collections: BlobCollections, document: BlobFileDocument): Promise<void> {
  const { files } = collections;
  for (let left = 3; ; left -= 1) {
    try {
      await files.insertOne(document);
      return;
    } catch (error) {
      if (!isDuplicateKey(error) || left === 0) throw error;
      // An earlier attempt got as far as this before its answer was lost: the last one wins.
      const earlier = await files.findOne({ filename: document.filename });
      if (earlier?._id.equals(document._id) === true) return;
      if (earlier !== null) await removeFile(collections, earlier);
    }
  }
}

/** A complete blob, with whatever belongs to it. */
export async function removeFile(collections: BlobCollections, file: BlobFileDocument): Promise<void> {
  if (file.inline === undefined) await discardAttempt(collections, attemptOf(file));
  else await collections.files.deleteOne({ _id: file._id });
}

/** A complete blob as the attempt that wrote it, to be removed like one. */
function attemptOf(file: BlobFileDocument): BlobWriteDocument {
  return {
    _id: file._id,
    blob_id: file.filename,
    touched_at: new Date(),
    chunks: Math.ceil(file.length / file.chunkSize),
  };
}
