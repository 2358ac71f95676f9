import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { BlobInfo, BlobStore } from '../../../../activities/ports/files.js';
import { AppError } from '../../../../schemas/app-error.js';
import { copyRecord } from '../copy-record.js';

interface Blob {
  info: BlobInfo;
  bytes: Buffer;
}

/** Blobs in a Map: there once complete, so that nothing incomplete is ever left. */
export function createFakeBlobStore(): BlobStore {
  const blobs = new Map<string, Blob>();
  return {
    async write(blob, source, signal) {
      const stop = () => source.destroy(signal?.reason as Error);
      if (signal?.aborted === true) stop();
      signal?.addEventListener('abort', stop, { once: true });
      try {
        const chunks: Buffer[] = [];
        for await (const chunk of source as AsyncIterable<Buffer | string>)
          chunks.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
        if (!source.readableEnded)
          throw new AppError('BAD_REQUEST', 'The upload ended before it was complete.');
        const bytes = Buffer.concat(chunks);
        blobs.set(blob.blobId, { info: { ...blob, size: bytes.length, createdAt: new Date() }, bytes });
        return { size: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') };
      } catch (error) {
        throw signal?.aborted === true ? signal.reason : error;
      } finally {
        signal?.removeEventListener('abort', stop);
      }
    },
    async read(blobId, range) {
      const blob = blobs.get(blobId);
      if (blob === undefined) throw new AppError('NOT_FOUND', `The blob ${blobId} does not exist.`);
      const bytes = blob.bytes.subarray(Math.max(0, range?.start ?? 0), range?.end ?? blob.bytes.length);
      return Readable.from(bytes.length === 0 ? [] : [bytes], { objectMode: false });
    },
    async info(blobId) {
      return copyRecord(blobs.get(blobId)?.info ?? null);
    },
    async assign(blobId, owner) {
      const blob = blobs.get(blobId);
      if (blob !== undefined) Object.assign(blob.info, owner);
    },
    async remove(blobId) {
      blobs.delete(blobId);
    },
    async listByFile(fileKey) {
      return copyRecord(
        [...blobs.values()].map(({ info }) => info).filter((info) => info.fileKey === fileKey),
      );
    },
    async *scan() {
      for (const { info } of [...blobs.values()]) yield copyRecord(info);
    },
    async removeIncomplete() {
      return 0;
    },
  };
}
