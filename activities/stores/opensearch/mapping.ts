import { AppError } from '../../../schemas/app-error.js';
import type { VectorField } from '../../ports/migrations.js';
import { similaritySettings } from './similarity.js';

const MAX_DIMENSION = 16_000;

/** A keyword longer than 32,766 bytes makes Lucene refuse the whole chunk; at most four bytes a character. */
const KEYWORD_MAX_CHARACTERS = 8_191;

type Mapping = { [key: string]: unknown };

const keyword = { type: 'keyword', ignore_above: KEYWORD_MAX_CHARACTERS };

/**
 * The index of one schema version. One replica where there is a second node to hold it, none on a single one, unless
 * the operator says how many (`index-layout.ts`).
 */
export const indexSettings = {
  index: { knn: true, number_of_shards: 1, auto_expand_replicas: '0-1', refresh_interval: '250ms' },
  similarity: similaritySettings,
  analysis: {
    analyzer: {
      folded: { type: 'custom', tokenizer: 'standard', filter: ['lowercase', 'asciifolding'] },
      // File names are cut at every sign: `annual_report-2024.pdf` is found by "report".
      filename: {
        type: 'custom',
        tokenizer: 'letters_and_digits',
        filter: ['lowercase', 'asciifolding', 'short'],
      },
    },
    tokenizer: { letters_and_digits: { type: 'pattern', pattern: '[^\\p{L}\\p{M}\\p{N}]+' } },
    filter: { short: { type: 'truncate', length: 255 } },
  },
} as const;

/** One vector field per embedder came with 3; what is older must be migrated before it is searched. */
export const SCHEMA_VERSION = 3;

/** Counts the changes since 3 that need an index built anew; one of an earlier step serves until it is migrated. */
export const SCHEMA_STEP = 2;

/** Fields of a chunk but its vectors. English and French each have a subfield: chained stemmers mangle words. */
export const chunkMapping = {
  dynamic: 'strict',
  _meta: { schema_version: SCHEMA_VERSION, step: SCHEMA_STEP },
  properties: {
    partition: { type: 'keyword' },
    file_id: { type: 'keyword' },
    file_key: { type: 'keyword' },
    generation: { type: 'long' },
    position: { type: 'integer' },
    published: { type: 'boolean' },
    text: {
      type: 'text',
      analyzer: 'folded',
      fields: { en: { type: 'text', analyzer: 'english' }, fr: { type: 'text', analyzer: 'french' } },
    },
    filename: { type: 'text', analyzer: 'filename', fields: { keyword } },
    heading_path: {
      type: 'text',
      analyzer: 'folded',
      fields: {
        keyword,
        en: { type: 'text', analyzer: 'english' },
        fr: { type: 'text', analyzer: 'french' },
      },
    },
    page: { type: 'integer' },
    chunk_type: { type: 'keyword' },
    section_id: { type: 'long' },
    prev_section_id: { type: 'long' },
    next_section_id: { type: 'long' },
    relationship_id: keyword,
    parent_id: keyword,
    // What a model said of the chunk; it is part of vectors and of nothing that is shown or searched by words.
    context: { type: 'keyword', index: false, doc_values: false },
    // Nested and typed: numbers compare as numbers, and client keys never become fields.
    metadata: {
      type: 'nested',
      dynamic: 'strict',
      properties: {
        key: keyword,
        text: keyword,
        number: { type: 'double', ignore_malformed: true },
        integer: { type: 'long', ignore_malformed: true },
        date: { type: 'date', ignore_malformed: true },
        bool: { type: 'boolean' },
      },
    },
  },
} as const;

/** Marks a field whose vectors all have length 1. */
const UNIT = { length: 'unit' };

/**
 * A vector field; the embedder is part of its name, since vectors of two models do not compare.
 * @param options.unit false for one that was filled by a release that stored vectors as they came
 */
export function vectorMapping(dimension: number, { unit = false } = {}) {
  return {
    type: 'knn_vector',
    dimension,
    ...(unit && { meta: UNIT }),
    method: {
      name: 'hnsw',
      engine: 'lucene',
      space_type: 'cosinesimil',
      parameters: { m: 16, ef_construction: 128 },
    },
  };
}

/** The properties of a mapping that hold vectors. */
export function vectorProperties(fields: readonly VectorField[]) {
  return Object.fromEntries(
    fields.map(({ vectorField, dimension, unit }) => [vectorField, vectorMapping(dimension, { unit })]),
  );
}

export function isUnitField({ meta }: { meta?: Partial<typeof UNIT> }): boolean {
  return meta?.length === UNIT.length;
}

/**
 * Every mapping passes here before it is sent: a knn_vector without `engine: lucene` is accepted by a node that
 * has only Lucene's k-NN, and then kills it at the first refresh and at every restart.
 * @throws AppError CONFIG_ERROR
 */
export function assertMapping(mapping: Mapping, path = ''): void {
  for (const [name, field] of Object.entries((mapping['properties'] ?? {}) as Record<string, Mapping>)) {
    const at = path === '' ? name : `${path}.${name}`;
    if (field['type'] === 'knn_vector') assertVector(field, at);
    assertMapping(field, at);
    assertMapping({ properties: field['fields'] }, at);
  }
}

function assertVector(field: Mapping, at: string): void {
  const { dimension, method } = field as { dimension?: unknown; method?: { engine?: unknown } };
  if (method?.engine !== 'lucene')
    throw new AppError('CONFIG_ERROR', `The vector field ${at} must name the engine lucene.`);
  if (!Number.isInteger(dimension) || Number(dimension) < 1 || Number(dimension) > MAX_DIMENSION)
    throw new AppError(
      'CONFIG_ERROR',
      `The vector field ${at} needs a dimension from 1 to ${MAX_DIMENSION}.`,
    );
}
