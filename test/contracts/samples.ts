import { randomUUID } from 'node:crypto';
import { chunkId } from '../../schemas/documents/chunk-id.js';
import type { FileVersion, Metadata, StoredChunk } from '../../schemas/documents/documents.js';
import type { TaskRecord } from '../../schemas/documents/tasks.js';

/** Keys that MongoDB would read as operators or paths, and numbers that a double rounds. */
export const AWKWARD_METADATA: Metadata = {
  $set: { 'a.b': 1, $inc: ['x', null, true] },
  'dotted.key': 'value',
  big: 9007199254740993n,
  negative: -9223372036854775808n,
  small: 42,
  real: 1.5,
  exponent: 1e300,
  empty: {},
  accents: 'Zürich – déjà vu 😀',
};

export function sampleUpload(overrides: Partial<TaskRecord['upload']> = {}): TaskRecord['upload'] {
  return {
    upload_id: randomUUID(),
    filename: 'guide.md',
    original_filename: 'guide.md',
    mimetype: 'text/markdown',
    size_bytes: 11,
    content_sha256: 'ab'.repeat(32),
    ...overrides,
  };
}

export function sampleVersion(overrides: Partial<FileVersion> = {}): FileVersion {
  return {
    ...sampleUpload(),
    generation: 1,
    task_id: randomUUID(),
    metadata: AWKWARD_METADATA,
    relationship_id: null,
    parent_id: null,
    chunk_count: 2,
    embedder: 'builtin/hash-1024',
    indexed_at: new Date('2026-01-02T03:04:05.678Z'),
    degraded_stages: [],
    ...overrides,
  };
}

export function sampleTask(overrides: Partial<TaskRecord> = {}): TaskRecord {
  return {
    task_id: randomUUID(),
    kind: 'index',
    state: 'QUEUED',
    stage: 'queued',
    progress: 0,
    attempt: 0,
    partition: 'library',
    file_id: 'guide',
    file_key: randomUUID(),
    generation: 1,
    user_id: 1,
    intent: 'create',
    metadata: AWKWARD_METADATA,
    relationship_id: null,
    parent_id: null,
    upload: sampleUpload(),
    embedder: 'builtin/hash-1024',
    error: null,
    created_at: new Date(),
    started_at: null,
    finished_at: null,
    handed_over_at: null,
    cleaned_at: null,
    ...overrides,
  };
}

/** As a chunk store is told which version a chunk is of. */
export function versionOfChunk({ partition, file_key: fileKey, generation }: StoredChunk) {
  return { partition, fileKey, generation };
}

export function sampleChunk(overrides: Partial<StoredChunk> = {}): StoredChunk {
  const chunk = {
    partition: 'library',
    file_id: 'guide',
    file_key: randomUUID(),
    generation: 1,
    position: 0,
    published: false,
    text: 'A sieve keeps what is coarse.',
    filename: 'guide.md',
    heading_path: ['Guide'],
    page: null,
    chunk_type: 'text' as const,
    section_id: 0,
    prev_section_id: null,
    next_section_id: null,
    relationship_id: null,
    parent_id: null,
    metadata: [],
    ...overrides,
  };
  return { ...chunk, chunk_id: chunkId(chunk.file_key, chunk.generation, chunk.position) };
}

export async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}

export function times<Item>(count: number, make: (index: number) => Item): Item[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

/** What became of calls that were made at once: `done`, or the code of the refusal. */
export function codesOf(answers: readonly PromiseSettledResult<unknown>[]): string[] {
  return answers.map((answer) =>
    answer.status === 'fulfilled' ? 'done' : String((answer.reason as { code?: string }).code),
  );
}
