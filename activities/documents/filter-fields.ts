import type { MetadataEntry, StoredChunk } from '../../schemas/documents/documents.js';
import type { ChunkTraits } from '../ports/chunks.js';
import { entryKey } from './metadata-entries.js';

/** One value of a field, typed as metadata entries are. */
export type FieldValue = Omit<MetadataEntry, 'key'>;

/** The part of a chunk that filters look at. */
export type FilterSubject = Pick<
  StoredChunk,
  'chunk_id' | 'file_id' | 'filename' | 'relationship_id' | 'parent_id' | 'metadata'
> &
  Partial<ChunkTraits>;

interface ServerField {
  of: Exclude<keyof FilterSubject, 'metadata'>;
  /** `id`: a text of which the engine knows only whether it is equal. */
  type: 'text' | 'integer' | 'id';
  /** What an answer shows, and a filter sees, where the chunk has none. */
  absent?: number;
}

/**
 * Keys of an answer that the server sets; a key of the same name in the client's metadata is never seen, as in
 * answers. `source` is what upstream shows a path in, and we the file's name. Formats without pages are one page.
 */
const SERVER_FIELDS: Readonly<Record<string, ServerField>> = {
  _id: { of: 'chunk_id', type: 'id' },
  file_id: { of: 'file_id', type: 'text' },
  filename: { of: 'filename', type: 'text' },
  source: { of: 'filename', type: 'text' },
  page: { of: 'page', type: 'integer', absent: 1 },
  chunk_type: { of: 'chunk_type', type: 'text' },
  section_id: { of: 'section_id', type: 'integer' },
  prev_section_id: { of: 'prev_section_id', type: 'integer' },
  next_section_id: { of: 'next_section_id', type: 'integer' },
  relationship_id: { of: 'relationship_id', type: 'text' },
  parent_id: { of: 'parent_id', type: 'text' },
};

/** Keys of an answer that are not in the index: a filter on them would find nothing, and is refused. */
export const UNFILTERABLE_FIELDS: ReadonlySet<string> = new Set([
  'page_sep',
  'vector_score',
  'combined_score',
  'rerank_score',
]);

/** Null: what stands in the metadata entries, under `entryKey`. */
export function serverField(name: string): ServerField | null {
  return Object.hasOwn(SERVER_FIELDS, name) ? (SERVER_FIELDS[name] ?? null) : null;
}

/** The values that a chunk has for a field; none when it is missing. */
export function valuesOf(subject: FilterSubject, name: string): FieldValue[] {
  const field = serverField(name);
  if (field === null) return subject.metadata.filter(({ key }) => key === entryKey(name));
  const value = subject[field.of] ?? field.absent ?? null;
  if (value === null) return [];
  return [typeof value === 'number' ? { number: value, integer: String(value) } : { text: value }];
}
