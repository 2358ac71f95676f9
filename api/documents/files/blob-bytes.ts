import { buffer } from 'node:stream/consumers';
import type { RandomAccessBytes } from '../../../activities/documents/parsing/random-access-bytes.js';
import type { BlobStore } from '../../../activities/ports/files.js';

/** A stored blob as bytes that can be read anywhere, for the content check: only what it asks for leaves the store. */
export function blobBytes(blobs: Pick<BlobStore, 'read'>, blobId: string, size: number): RandomAccessBytes {
  return {
    size,
    async read(start, end) {
      return buffer(await blobs.read(blobId, { start, end }));
    },
  };
}
