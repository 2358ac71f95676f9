import type { Binary, Collection, Db, ObjectId } from 'mongodb';
import type { BlobInfo } from '../../../ports/files.js';

/**
 * The GridFS layout (files, chunks), which every MongoDB tool reads, and beside it the writes under way: an entry
 * is put down before the first chunk and taken away after the files document, so that what a killed process left
 * is found without reading every chunk of the bucket.
 */
export const BLOB_COLLECTIONS = {
  files: 'blobs.files',
  chunks: 'blobs.chunks',
  writes: 'blobs.writes',
} as const;

/**
 * Measured on DocumentDB against 255 kB (GridFS's own), 2 and 4 MB: a half faster to write and to read than 255 kB and
 * removed in a third of the time. Larger ones are written no faster, and each upload under way would hold so much more.
 */
export const BLOB_CHUNK_BYTES = 1024 * 1024;

/**
 * Most uploads, and what the steps of an indexing leave for each other, have a few kilobytes. Up to here they stand in
 * their files document: written, read and removed by one operation each instead of five, two and five. Other tools that
 * read GridFS find these without chunks.
 */
export const INLINE_BYTES = 64 * 1024;

export interface BlobFileDocument {
  /** One per attempt and not the blob's id: two attempts of one blob must never mix their chunks. */
  _id: ObjectId;
  length: number;
  chunkSize: number;
  uploadDate: Date;
  /** The blob's id, unique. */
  filename: string;
  metadata: {
    kind: BlobInfo['kind'];
    file_key: string;
    generation: number;
    task_id: string;
    sha256: string;
  };
  /** All bytes of a small blob that is no upload; then it has no chunks. */
  inline?: Binary;
}

interface BlobChunkDocument {
  _id: ObjectId;
  files_id: ObjectId;
  n: number;
  data: Binary;
}

export interface BlobWriteDocument {
  /** The files id of the attempt. */
  _id: ObjectId;
  blob_id: string;
  /** Renewed while bytes arrive: a slow upload is not taken for a dead one. */
  touched_at: Date;
  /** At least as many as there are chunks, so that each can be removed by its number. */
  chunks: number;
  /** Being removed: the writer, should it still live, must not complete it. */
  doomed?: boolean;
}

export interface BlobCollections {
  files: Collection<BlobFileDocument>;
  chunks: Collection<BlobChunkDocument>;
  writes: Collection<BlobWriteDocument>;
}

export function blobCollections(db: Db): BlobCollections {
  return {
    files: db.collection<BlobFileDocument>(BLOB_COLLECTIONS.files),
    chunks: db.collection<BlobChunkDocument>(BLOB_COLLECTIONS.chunks),
    writes: db.collection<BlobWriteDocument>(BLOB_COLLECTIONS.writes),
  };
}

export function toBlobInfo(document: BlobFileDocument): BlobInfo {
  return {
    blobId: document.filename,
    kind: document.metadata.kind,
    fileKey: document.metadata.file_key,
    generation: document.metadata.generation,
    taskId: document.metadata.task_id,
    size: document.length,
    createdAt: document.uploadDate,
  };
}
