import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type multer from '@koa/multer';
import type { StoredPart, UploadName } from '../../../activities/documents/commands/received-upload.js';
import type { BlobStore } from '../../../activities/ports/files.js';

type Part = Pick<multer.File, 'originalname' | 'mimetype'> & { stream: Readable };

/**
 * A storage engine for multer that streams a file part straight into the blob store: nothing is buffered, and the
 * store's pace is the client's pace. It keeps the promise of its write, so that a fault can wait for the write to be
 * over before the bytes are removed; multer itself answers an aborted request without waiting.
 */
export function createBlobStorageEngine(
  blobs: BlobStore,
  { blobId, fileKey, generation }: UploadName,
  signal: AbortSignal,
) {
  let writing: Promise<unknown> = Promise.resolve();
  let stored: StoredPart | null = null;

  const write = async (part: Part): Promise<void> => {
    const owner = { blobId, kind: 'upload', fileKey, generation, taskId: blobId } as const;
    const { size, sha256 } = await blobs.write(owner, part.stream, signal);
    stored = { originalName: part.originalname, mimetype: part.mimetype, size, sha256 };
  };

  const engine: multer.StorageEngine = {
    _handleFile(_request: IncomingMessage, file, callback) {
      const written = write(file as unknown as Part);
      writing = written.catch(() => undefined);
      written.then(
        () => callback(null, {} as multer.File),
        (error: unknown) => callback(error),
      );
    },
    // The bytes are removed by `discard`, which every fault goes through.
    _removeFile(_request, _file, callback) {
      callback(null as unknown as Error);
    },
  };

  return {
    engine,
    stored: () => stored,
    async discard(): Promise<void> {
      await writing;
      await blobs.remove(blobId);
    },
  };
}
