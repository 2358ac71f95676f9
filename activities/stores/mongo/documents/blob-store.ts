import { Readable } from 'node:stream';
import type { Db } from 'mongodb';
import { AppError } from '../../../../schemas/app-error.js';
import type { BlobStore } from '../../../ports/files.js';
import { blobCollections, toBlobInfo } from './blob-collections.js';
import type { BlobCollections, BlobFileDocument } from './blob-collections.js';
import { removeFile, writeBlob } from './blob-writer.js';
import { discardAttempt } from './discard-attempt.js';
import { toMongoAppError, withMongoErrors } from '../mongo-errors.js';

/** Bytes of a blob, one chunk in memory at a time, however large the answer of a server's cursor could grow. */
async function* readBytes({ chunks }: BlobCollections, file: BlobFileDocument, start: number, end: number) {
  try {
    if (file.inline !== undefined) {
      if (start < end) yield file.inline.buffer.subarray(start, end);
      return;
    }
    for (let position = start; position < end;) {
      const n = Math.floor(position / file.chunkSize);
      const chunk = await chunks.findOne({ files_id: file._id, n });
      if (chunk === null) throw new AppError('STORAGE_ERROR', `Part ${n} of ${file.filename} is missing.`);
      const first = n * file.chunkSize;
      const bytes = chunk.data.buffer.subarray(0, chunk.data.position);
      yield bytes.subarray(position - first, Math.min(bytes.length, end - first));
      position = first + file.chunkSize;
    }
  } catch (error) {
    throw toMongoAppError(error);
  }
}

const WITHOUT_BYTES = { projection: { inline: 0 } } as const;

/** Blobs in GridFS bucket `blobs`; small ones that are no uploads in their files document alone. */
export function createMongoBlobStore(db: Db): BlobStore {
  const collections = blobCollections(db);
  const { files, writes } = collections;

  const isComplete = async (id: BlobFileDocument['_id']) =>
    (await files.countDocuments({ _id: id }, { limit: 1 })) === 1;

  return withMongoErrors<BlobStore>({
    write: (blob, source, signal) => writeBlob(collections, blob, source, signal),
    async read(blobId, range) {
      const file = await files.findOne({ filename: blobId });
      if (file === null) throw new AppError('NOT_FOUND', `The blob ${blobId} does not exist.`);
      const start = Math.max(0, range?.start ?? 0);
      const end = Math.min(file.length, range?.end ?? file.length);
      return Readable.from(readBytes(collections, file, start, end), { objectMode: false });
    },
    async info(blobId) {
      const file = await files.findOne({ filename: blobId }, WITHOUT_BYTES);
      return file && toBlobInfo(file);
    },
    async assign(blobId, owner) {
      await files.updateOne(
        { filename: blobId },
        { $set: { 'metadata.file_key': owner.fileKey, 'metadata.generation': owner.generation } },
      );
    },
    async remove(blobId) {
      // Most are small ones, which need no look at them first.
      const { deletedCount } = await files.deleteOne({ filename: blobId, inline: { $exists: true } });
      const file = deletedCount === 1 ? null : await files.findOne({ filename: blobId });
      if (file !== null) await removeFile(collections, file);
    },
    async listByFile(fileKey) {
      return (await files.find({ 'metadata.file_key': fileKey }, WITHOUT_BYTES).toArray()).map(toBlobInfo);
    },
    async *scan() {
      for await (const file of files.find({}, { ...WITHOUT_BYTES, batchSize: 500 })) yield toBlobInfo(file);
    },
    async removeIncomplete(before) {
      let removed = 0;
      const stalled = { touched_at: { $lt: before } };
      for await (const attempt of writes.find(stalled)) {
        if (attempt.doomed !== true && (await isComplete(attempt._id))) {
          // Complete, and killed before it could take its entry away.
          await writes.deleteOne({ _id: attempt._id });
          continue;
        }
        const guard = { _id: attempt._id, ...stalled };
        if ((await writes.updateOne(guard, { $set: { doomed: true } })).matchedCount === 0) continue;
        await discardAttempt(collections, attempt);
        removed += 1;
      }
      return removed;
    },
  });
}
