import type { Filter, UpdateFilter } from 'mongodb';
import type { FileRecord, FileVersion } from '../../../../schemas/documents/documents.js';
import { metadataFromText, metadataToText, withMetadata } from './metadata-json.js';

type VersionDocument = Omit<FileVersion, 'metadata'> & { metadata: string };

/** A file record as collection `files` keeps it. */
export interface FileDocument {
  /** The file key. */
  _id: string;
  /** `partition/file_id`, unique; there only while the record is active, so that a tombstone's name is free. */
  name_key?: string;
  partition: string;
  /** Absent in records of before partitions had keys: then it is the partition's name, and so is that one's key. */
  partition_key?: string;
  file_id: string;
  created_by: number | null;
  /** Both are absent in documents of earlier releases, which knew no workspaces. */
  workspaces?: string[];
  independent?: boolean;
  latest_generation: number;
  live: VersionDocument | null;
  pending_task: string | null;
  /** As text, like all metadata. */
  metadata_patch?: string | null;
  /** Absent means 0. */
  revision?: number;
  chunk_updates?: string[];
  attached?: { to: string; generations: number[] };
  created_at: Date;
  updated_at: Date;
  /** There on tombstones only, so that the sparse index lists them. */
  tombstone_at?: Date;
}

/** Identifiers hold no slash, so that no two names read alike. */
export function nameKey(partition: string, fileId: string): string {
  return `${partition}/${fileId}`;
}

export function toVersionDocument(version: FileVersion): VersionDocument {
  return {
    ...version,
    metadata: metadataToText(version.metadata),
  };
}

/** Metadata is made of its text where it is asked for: a search looks at the records of all hits, and answers ten. */
function toVersion(document: VersionDocument): FileVersion {
  const { metadata: text, ...version } = document;
  return withMetadata(version, text);
}

export function toFileRecord(document: FileDocument): FileRecord {
  return {
    file_key: document._id,
    partition: document.partition,
    partition_key: document.partition_key ?? document.partition,
    file_id: document.file_id,
    created_by: document.created_by,
    workspaces: document.workspaces ?? [],
    independent: document.independent ?? true,
    latest_generation: document.latest_generation,
    live: document.live && toVersion(document.live),
    pending_task: document.pending_task,
    metadata_patch: document.metadata_patch == null ? null : metadataFromText(document.metadata_patch),
    revision: document.revision ?? 0,
    chunk_updates: document.chunk_updates ?? [],
    ...(document.attached === undefined ? {} : { attached: document.attached }),
    created_at: document.created_at,
    updated_at: document.updated_at,
    deleted_at: document.tombstone_at ?? null,
  };
}

/**
 * Not deleted, of files (active, and no tombstone) as of workspaces. Said as a negation because DocumentDB would answer
 * `$exists` and `$ne` from the index of `name_key`: by reading the whole of it beside the index that narrows.
 */
export const NAMED: { $nor: { name_key: { $exists: boolean } }[] } = {
  $nor: [{ name_key: { $exists: false } }],
};
/** Visible. */
export const LIVE = { live: { $ne: null }, ...NAMED };

/** Active, and either visible or being made so: what PUT may replace and DELETE may delete. */
export const PRESENT: Filter<FileDocument> = {
  ...NAMED,
  $or: [{ live: { $ne: null } }, { pending_task: { $ne: null } }],
};

/** The filter for one revision of a record. */
export function atRevision(revision: number): { revision: { $exists: false } | number } {
  return {
    revision: revision === 0 ? { $exists: false } : revision,
  };
}

/** Nothing visible, nothing pending, in no workspace, and the name is free. */
export function tombstone(now: Date): UpdateFilter<FileDocument> {
  return {
    $set: {
      live: null,
      pending_task: null,
      metadata_patch: null,
      workspaces: [],
      tombstone_at: now,
      updated_at: now,
    },
    $unset: { name_key: '' },
    $inc: { revision: 1 },
  };
}
