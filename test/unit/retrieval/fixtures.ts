import { PARTITION_DEFAULTS } from '../../../schemas/documents/partitions.js';
import type { FileRecord, FileVersion, StoredChunk } from '../../../schemas/documents/documents.js';
import type { PartitionRecord } from '../../../schemas/documents/partitions.js';
import type { Role, Scope } from '../../../schemas/documents/users.js';
import type { SearchResult } from '../../../activities/retrieval/search/search-types.js';

const NOON = new Date('2026-03-01T12:00:00.000Z');

export function makeVersion(over: Partial<FileVersion> = {}): FileVersion {
  return {
    upload_id: 'upload-1',
    filename: 'report.pdf',
    original_filename: 'Report (final).pdf',
    mimetype: 'application/pdf',
    size_bytes: 2_516_582,
    content_sha256: 'ab'.repeat(32),
    generation: 1,
    task_id: 'task-1',
    metadata: {},
    relationship_id: null,
    parent_id: null,
    chunk_count: 1,
    embedder: 'builtin-hash',
    indexed_at: NOON,
    degraded_stages: [],
    ...over,
  };
}

export function makeFile(over: Partial<FileRecord> = {}): FileRecord {
  return {
    file_key: 'key-1',
    partition: 'public',
    file_id: 'file-1',
    created_by: 1,
    workspaces: [],
    independent: true,
    latest_generation: 1,
    live: makeVersion(),
    pending_task: null,
    partition_key: 'public-key',
    metadata_patch: null,
    revision: 0,
    chunk_updates: [],
    created_at: NOON,
    updated_at: NOON,
    deleted_at: null,
    ...over,
  };
}

export function makeChunk(over: Partial<StoredChunk> = {}): StoredChunk {
  return {
    chunk_id: 'chunk-1',
    partition: 'public',
    file_id: 'file-1',
    file_key: 'key-1',
    generation: 1,
    position: 0,
    published: true,
    text: 'A text.',
    filename: 'report.pdf',
    heading_path: [],
    page: null,
    chunk_type: 'text',
    section_id: 0,
    prev_section_id: null,
    next_section_id: null,
    relationship_id: null,
    parent_id: null,
    metadata: [],
    ...over,
  };
}

export function makeResult(chunk: Partial<StoredChunk>, version: Partial<FileVersion> = {}): SearchResult {
  const live = makeVersion(version);
  return {
    chunk: makeChunk(chunk),
    file: makeFile({ live }),
    version: live,
    score: 0.5,
    vectorScore: 0.25,
    lexicalScore: 7,
  };
}

export function makePartition(partition: string, embedder = 'builtin-hash'): PartitionRecord {
  return {
    ...PARTITION_DEFAULTS,
    swap: null,
    swapped_from: [],
    partition,
    partition_key: `key-of-${partition}`,
    embedder,
    created_by: 1,
    created_at: NOON,
  };
}

export function scopeOf(...partitions: string[]): Scope {
  return {
    kind: 'partitions',
    userId: 2,
    roles: Object.fromEntries(partitions.map((partition): [string, Role] => [partition, 'viewer'])),
  };
}
