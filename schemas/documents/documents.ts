/**
 * The records of files and of the chunks that they are found by, as our stores keep them and our ports speak of them.
 */
import type { ParseReport } from './parse-report.js';

/** JSON values; integers that a double cannot hold exactly are bigint (exact within 64 bits). */
export type MetadataValue =
  string | number | bigint | boolean | null | MetadataValue[] | { [key: string]: MetadataValue };
export type Metadata = Record<string, MetadataValue>;

/** The bytes of one upload, put down before anything else: workflows carry `upload_id` only. */
export interface UploadInfo {
  upload_id: string;
  /** Sanitised, safe to show and to write into a header. */
  filename: string;
  /** As the client sent it. */
  original_filename: string;
  mimetype: string;
  size_bytes: number;
  /** Hexadecimal SHA-256 of the bytes. */
  content_sha256: string;
}

/** What one published indexing made visible. */
export interface FileVersion extends UploadInfo {
  generation: number;
  task_id: string;
  metadata: Metadata;
  relationship_id: string | null;
  parent_id: string | null;
  chunk_count: number;
  /** Endpoint name of the embedder whose vectors the chunks carry. */
  embedder: string;
  /** When its indexing began. */
  indexed_at: Date;
  degraded_stages: string[];
  /** Absent in versions of earlier releases. */
  parse_report?: ParseReport;
}

/**
 * The record that decides what a file is. Every change of `live` and `pending_task` is one guarded update.
 * A file is visible exactly while `live` is set and `deleted_at` is not.
 */
export interface FileRecord {
  /** Surrogate, never reused: a deleted and recreated file gets a new one. */
  file_key: string;
  partition: string;
  /** Which partition of that name. */
  partition_key: string;
  file_id: string;
  /** Null once that user is deleted. */
  created_by: number | null;
  /** Keys of the workspaces it belongs to (not their ids, which may be used again). */
  workspaces: string[];
  /** Uploaded without workspaces: it outlives every workspace that it is attached to later. */
  independent: boolean;
  /** The greatest generation ever admitted for this file; admission refuses a smaller one. */
  latest_generation: number;
  live: FileVersion | null;
  pending_task: string | null;
  /** What was merged into the metadata since the pending task was admitted: its publication merges it as well. */
  metadata_patch: Metadata | null;
  /** Raised by every change: what was read at one revision is written only while it is still that one. */
  revision: number;
  /** Changes of the record, by token, that the chunks may not have followed yet. */
  chunk_updates: string[];
  /** Taken out of a mail: its file key, and the generations of it that have this attachment. It goes with the last. */
  attached?: { to: string; generations: number[] };
  created_at: Date;
  updated_at: Date;
  /** A tombstone waits for its clean-up; its name is free already. */
  deleted_at: Date | null;
}

/** A chunk of a document as the parser makes it, before it has a vector. */
export interface Chunk {
  /** 0, 1, 2 … within the file version. */
  position: number;
  text: string;
  /** 1-based; null where the format has no pages. */
  page: number | null;
  headingPath: string[];
  /** `image`: what a model says of a picture. */
  chunkType: 'text' | 'table' | 'code' | 'image';
  tokens: number;
  sectionId: number;
}

/** Typed copy of one metadata value, so that filters compare numbers as numbers and dates as dates. */
export interface MetadataEntry {
  key: string;
  text?: string;
  number?: number;
  /** Integers that a double would round. */
  integer?: string;
  date?: string;
  bool?: boolean;
}

/** A chunk as the vector store keeps it. */
export interface StoredChunk {
  chunk_id: string;
  partition: string;
  file_id: string;
  file_key: string;
  generation: number;
  position: number;
  published: boolean;
  text: string;
  filename: string;
  heading_path: string[];
  page: number | null;
  chunk_type: Chunk['chunkType'];
  section_id: number;
  prev_section_id: number | null;
  next_section_id: number | null;
  relationship_id: string | null;
  parent_id: string | null;
  metadata: MetadataEntry[];
}
