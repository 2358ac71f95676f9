import { AppError } from '../../../schemas/app-error.js';
import { chunkId } from '../../../schemas/documents/chunk-id.js';
import type { StoredChunk } from '../../../schemas/documents/documents.js';
import type { ChunkEntry, ChunkHead, ChunkTraits, FoundChunk } from '../../ports/chunks.js';
import { unitVector } from '../../models/vector-arithmetic.js';
import { toStoredEntry } from '../../documents/metadata-entries.js';

/** A chunk as the index holds it: the id is the document's, and `published` is absent until it is true. */
export type ChunkSource = Omit<StoredChunk, 'chunk_id' | 'published'> & { published?: boolean };
export type FoundSource = Omit<ChunkSource, 'metadata'>;

/** What a search asks back. */
export const FOUND_FIELDS: readonly (keyof FoundSource)[] = [
  'partition',
  'file_id',
  'file_key',
  'generation',
  'position',
  'published',
  'text',
  'filename',
  'heading_path',
  'page',
  'chunk_type',
  'section_id',
  'prev_section_id',
  'next_section_id',
  'relationship_id',
  'parent_id',
];

/** Fields asked back; vectors are many times larger than the rest and are never read. */
export const SOURCE_FIELDS: readonly (keyof ChunkSource)[] = [...FOUND_FIELDS, 'metadata'];

/** Kept for making further vectors of a stored chunk; readers never ask for it. */
export const CONTEXT_FIELD = 'context';

/** The id is not asked for: it is stored with the rest, and follows from these. */
const PLACE_FIELDS = ['file_key', 'generation', 'position'] as const satisfies readonly (keyof ChunkHead)[];

const TRAIT_FIELDS = [
  'page',
  'chunk_type',
  'section_id',
  'prev_section_id',
  'next_section_id',
] as const satisfies readonly (keyof ChunkTraits)[];

/**
 * Equal scores by what belongs to the chunk: the engine's own order is that of its segments, which all tenants share. A
 * hit comes with the values that it was sorted by.
 */
const BY_SCORE_THEN_PLACE = [{ _score: 'desc' }, ...PLACE_FIELDS.map((field) => ({ [field]: 'asc' }))];

/**
 * Asks for hits by the columns of the index alone. A stored document is read and taken apart with its vector, which
 * took most of a search's time; each further column takes some.
 * @param options.traits also what filters may ask of a chunk
 * @param options.placed equal scores in the order of their places, which takes a third of a search's time; otherwise in
 * any order
 */
export function headsOnly({ traits, placed = false }: { traits: boolean; placed?: boolean }): object {
  return {
    _source: false,
    stored_fields: '_none_',
    track_total_hits: false,
    ...(placed && { sort: BY_SCORE_THEN_PLACE }),
    docvalue_fields: [...(placed ? [] : PLACE_FIELDS), ...(traits ? TRAIT_FIELDS : [])],
  };
}

type Column = (typeof PLACE_FIELDS)[number] | (typeof TRAIT_FIELDS)[number];

/** What `headsOnly` asks for. */
export interface HeadHit {
  _score: number;
  sort?: [score: number, fileKey: string, generation: number, position: number];
  /** Each as a list; without a value it is absent. */
  fields?: Partial<Record<Column, unknown[]>>;
}

export function headOf({ sort, fields = {} }: HeadHit): ChunkHead {
  const value = (name: Column): unknown => fields[name]?.[0];
  const [, fileKey, generation, position] =
    sort ?? ([0, ...PLACE_FIELDS.map(value)] as NonNullable<HeadHit['sort']>);
  const head: ChunkHead = {
    chunk_id: chunkId(fileKey, generation, position),
    file_key: fileKey,
    generation,
    position,
  };
  const traits: Record<string, unknown> = {};
  for (const name of TRAIT_FIELDS) if (fields[name] !== undefined) traits[name] = value(name);
  return Object.assign(head, traits);
}

/** How far the square of a length may be from 1: single precision, in which vectors are compared, is not better. */
const UNIT_TOLERANCE = 1e-6;
const DECIMALS = 1e9;

/**
 * The vector at length 1, so that its cosine is a product: as it is where a model gives such vectors, otherwise with as
 * many decimals as single precision tells apart.
 * @throws AppError VDB_INSERT_ERROR for one that is not made of finite numbers
 */
export function toStoredVector(vector: readonly number[], chunk: string): readonly number[] {
  if (!vector.every(Number.isFinite))
    throw new AppError('VDB_INSERT_ERROR', `The vector of chunk ${chunk} holds a value that is no number.`);
  const square = vector.reduce((sum, value) => sum + value * value, 0);
  if (Math.abs(square - 1) <= UNIT_TOLERANCE) return vector;
  return unitVector(vector).map((value) => Math.round(value * DECIMALS) / DECIMALS);
}

/**
 * The document to write. `published` is left out unless it is true, so that a late repetition of the write cannot hide
 * a chunk that has been published since. A zero vector has no direction (the engine refuses it): such a chunk is found
 * by its words alone.
 * @throws AppError as `toStoredVector`
 */
export function toSource(
  { chunk, vector, context }: ChunkEntry,
  vectorField: string,
): Record<string, unknown> {
  const stored = toStoredVector(vector, String(chunk.position));
  const source: Record<string, unknown> = {};
  for (const field of SOURCE_FIELDS)
    if (field !== 'published' || chunk.published) source[field] = chunk[field];
  source['metadata'] = chunk.metadata.map(toStoredEntry);
  if (context != null) source[CONTEXT_FIELD] = context;
  if (stored.some((value) => value !== 0)) source[vectorField] = stored;
  return source;
}

export function foundFromSource(id: string, source: FoundSource): FoundChunk {
  return {
    chunk_id: id,
    partition: source.partition,
    file_id: source.file_id,
    file_key: source.file_key,
    generation: source.generation,
    position: source.position,
    published: source.published === true,
    text: source.text,
    filename: source.filename,
    heading_path: source.heading_path,
    page: source.page,
    chunk_type: source.chunk_type,
    section_id: source.section_id,
    prev_section_id: source.prev_section_id,
    next_section_id: source.next_section_id,
    relationship_id: source.relationship_id,
    parent_id: source.parent_id,
  };
}

export function fromSource(id: string, source: ChunkSource): StoredChunk {
  return { ...foundFromSource(id, source), metadata: source.metadata };
}
