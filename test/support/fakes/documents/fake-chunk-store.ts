import type {
  ChunkHead,
  ChunkStore,
  FoundChunk,
  ScanOptions,
  SearchLegHit,
} from '../../../../activities/ports/chunks.js';
import { unitVector } from '../../../../activities/models/vector-arithmetic.js';
import { matchesFilter } from '../../../../activities/retrieval/filter/matches-filter.js';
import { AppError } from '../../../../schemas/app-error.js';
import { chunkId } from '../../../../schemas/documents/chunk-id.js';
import { inScope } from '../../../../schemas/documents/users.js';
import type { StoredChunk } from '../../../../schemas/documents/documents.js';
import { copyRecord } from '../copy-record.js';

type WordSearch = Parameters<ChunkStore['searchWords']>[0];

interface Entry {
  chunk: StoredChunk;
  vectors: Map<string, readonly number[]>;
  context: string | null;
}

function words(text: string): string[] {
  return (
    text
      .normalize('NFD')
      .replace(/\p{M}/gu, '')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  );
}

function placeOf({ chunk_id, file_key, generation, position }: StoredChunk): ChunkHead {
  return {
    chunk_id,
    file_key,
    generation,
    position,
  };
}

function withoutMetadata(chunk: StoredChunk): FoundChunk {
  const { metadata: _, ...found } = copyRecord(chunk);
  return found;
}

function headOf(chunk: StoredChunk): ChunkHead {
  const { page, chunk_type, section_id, prev_section_id, next_section_id } = chunk;
  return { ...placeOf(chunk), page, chunk_type, section_id, prev_section_id, next_section_id };
}

function norm(vector: readonly number[]): number {
  return Math.hypot(...vector);
}

function cosine(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0) / (norm(a) * norm(b));
}

/** Chunks in a Map; words that overlap score by rarity, vectors by exact cosine. */
export function createFakeChunkStore(): ChunkStore {
  const entries = new Map<string, Entry>();
  const dimensions = new Map<string, number>();
  let owner: string | null = null;
  const all = (): Entry[] => [...entries.values()];
  const ofFile = (fileKey: string): Entry[] => all().filter(({ chunk }) => chunk.file_key === fileKey);

  /** How rare each term is among the counted chunks. */
  const rarities = (terms: readonly string[], pool: readonly Entry[]): Map<string, number> => {
    const texts = pool.map(({ chunk }) => new Set(words(chunk.text)));
    return new Map(
      terms.map((term) => {
        const holders = texts.filter((text) => text.has(term)).length;
        return [term, Math.log(1 + pool.length / (1 + holders))];
      }),
    );
  };

  const lexicalScore = (chunk: StoredChunk, rarity: ReadonlyMap<string, number>): number => {
    const own = new Set(words([chunk.text, chunk.filename, ...chunk.heading_path].join(' ')));
    let score = 0;
    for (const [term, weight] of rarity) if (own.has(term)) score += weight;
    return score;
  };

  const ranked = (hits: SearchLegHit[], size: number): SearchLegHit[] =>
    hits.sort((a, b) => b.score - a.score || a.chunk.position - b.chunk.position).slice(0, size);

  const searched = ({
    scope,
    partitions,
    fileKey,
    fileKeys,
    filter,
    withoutGenerations,
  }: WordSearch): Entry[] =>
    all().filter(
      ({ chunk }) =>
        chunk.published &&
        inScope(scope, chunk.partition) &&
        (partitions === 'all' || partitions.includes(chunk.partition)) &&
        (fileKey === undefined || chunk.file_key === fileKey) &&
        (fileKeys === undefined || fileKeys.includes(chunk.file_key)) &&
        (filter === undefined || matchesFilter(chunk, filter)) &&
        withoutGenerations?.includes(chunk.generation) !== true,
    );

  const shownBy = ({ filter }: WordSearch) => (filter === undefined ? placeOf : headOf);

  const searchWords: ChunkStore['searchWords'] = async (request) => {
    request.signal?.throwIfAborted();
    const { scope, countedIn = request.partitions } = request;
    const rarity = rarities(
      [...new Set(words(request.text))],
      all().filter(
        ({ chunk }) =>
          chunk.published &&
          inScope(scope, chunk.partition) &&
          (countedIn === 'all' || countedIn.includes(chunk.partition)),
      ),
    );
    const hits = searched(request)
      .map(({ chunk }) => ({ chunk: shownBy(request)(chunk), score: lexicalScore(chunk, rarity) }))
      .filter(({ score }) => score > 0);
    return ranked(hits, request.size);
  };

  const ensureField: ChunkStore['ensureField'] = async ({ vectorField, dimension }) => {
    if ((dimensions.get(vectorField) ?? dimension) !== dimension)
      throw new AppError('VDB_SCHEMA_MIGRATION_REQUIRED');
    dimensions.set(vectorField, dimension);
  };

  const vectorsOf = (ids: readonly string[], vectorField: string): Map<string, number[]> =>
    new Map(
      ids.flatMap((id) => {
        const vector = entries.get(id)?.vectors.get(vectorField);
        return vector === undefined ? [] : [[id, [...vector]]];
      }),
    );

  const getMany: ChunkStore['getMany'] = async (ids, signal) => {
    signal?.throwIfAborted();
    return new Map(
      ids.flatMap((id) => {
        const entry = entries.get(id);
        if (entry === undefined) return [];
        return [[id, withoutMetadata(entry.chunk)]];
      }),
    );
  };

  return {
    async ensureSchema(fields) {
      for (const field of fields) await ensureField(field);
    },
    ensureField,
    async ownerOf(recordStore) {
      if (owner === null || entries.size === 0) owner = recordStore;
      return owner;
    },
    async giveTo(recordStore) {
      owner = recordStore;
    },
    requireSchema: async () => {},
    async put(chunks, vectorField, signal) {
      signal?.throwIfAborted();
      for (const { chunk, vector, context } of chunks) {
        if (vector.length !== dimensions.get(vectorField) || !vector.every(Number.isFinite))
          throw new AppError('VDB_INSERT_ERROR');
        const id = chunkId(chunk.file_key, chunk.generation, chunk.position);
        const before = entries.get(id);
        const vectors = new Map(before?.vectors);
        if (norm(vector) > 0) vectors.set(vectorField, unitVector(vector));
        const published = chunk.published || before?.chunk.published === true;
        entries.set(id, {
          chunk: { ...copyRecord(chunk), chunk_id: id, published },
          vectors,
          context: context ?? before?.context ?? null,
        });
      }
    },
    async show(signal) {
      signal?.throwIfAborted();
    },
    async publish({ fileKey, generation }, count) {
      const ids = Array.from({ length: count }, (_, position) => chunkId(fileKey, generation, position));
      const found = ids.flatMap((id) => entries.get(id) ?? []);
      for (const { chunk } of found) chunk.published = true;
      const missing = count - found.length;
      if (missing > 0) throw new AppError('VDB_ERROR', undefined, { details: { missing } });
    },
    searchWords,
    async searchHybrid({ vector, vectorField, lexical, vectorsOf: count = 0, ...request }) {
      const byWords = [...(await (lexical ?? searchWords(request)))];
      const pool = searched(request);
      if (norm(vector) === 0 || pool.length === 0) return { lexical: byWords, dense: [] };
      if (dimensions.get(vectorField) !== vector.length) throw new AppError('VDB_SEARCH_ERROR');
      const dense = pool.flatMap(({ chunk, vectors }) => {
        const own = vectors.get(vectorField);
        return own === undefined ? [] : [{ chunk: shownBy(request)(chunk), score: cosine(own, vector) }];
      });
      const first = byWords.slice(0, count).map(({ chunk }) => chunk.chunk_id);
      return {
        lexical: byWords,
        dense: ranked(dense, request.size),
        ...(count > 0 && { vectors: vectorsOf(first, vectorField) }),
      };
    },
    async countChunks(scope, partition) {
      const held = inScope(scope, partition)
        ? all().filter(({ chunk }) => chunk.partition === partition)
        : [];
      return { chunks: held.length, published: held.filter(({ chunk }) => chunk.published).length };
    },
    async get(id) {
      return copyRecord(entries.get(id)?.chunk ?? null);
    },
    getMany,
    async getVectors(ids, vectorField, signal) {
      signal?.throwIfAborted();
      return vectorsOf(ids, vectorField);
    },
    async similarities(ids, { vector, vectorField, read = [], signal }) {
      const chunks = await getMany(read, signal);
      if (norm(vector) === 0) return { cosines: new Map(), chunks };
      const cosines = new Map(
        ids.flatMap((id) => {
          const entry = entries.get(id);
          const own = entry?.vectors.get(vectorField);
          return own === undefined || entry?.chunk.published !== true ? [] : [[id, cosine(own, vector)]];
        }),
      );
      return { cosines, chunks };
    },
    async listByFile(fileKey, generation, limit = Infinity) {
      return ofFile(fileKey)
        .map(({ chunk }) => chunk)
        .filter((chunk) => chunk.generation === generation)
        .sort((a, b) => a.position - b.position)
        .slice(0, limit)
        .map(withoutMetadata);
    },
    async addVectors(vectors, vectorField, signal) {
      signal?.throwIfAborted();
      for (const { chunkId: id, vector } of vectors) {
        if (vector.length !== dimensions.get(vectorField)) throw new AppError('VDB_INSERT_ERROR');
        if (norm(vector) > 0) entries.get(id)?.vectors.set(vectorField, unitVector(vector));
      }
    },
    async *scanChunks(
      generations: readonly number[],
      { vectorFields = [], withoutVector, metadata = false }: ScanOptions & { metadata?: boolean } = {},
    ) {
      const found = all()
        .filter(({ chunk }) => chunk.published && generations.includes(chunk.generation))
        .filter(({ vectors }) => withoutVector === undefined || !vectors.has(withoutVector))
        .sort((a, b) => a.chunk.generation - b.chunk.generation || a.chunk.position - b.chunk.position);
      for (const { chunk, vectors, context } of found) {
        const field = vectorFields.find((name) => vectors.has(name));
        yield {
          chunk: metadata ? copyRecord(chunk) : (withoutMetadata(chunk) as StoredChunk),
          vector: field === undefined ? null : [...vectors.get(field)!],
          context,
        };
      }
    },
    async listWithVectors(fileKey, generation, { vectorField, from, limit }) {
      return ofFile(fileKey)
        .filter(({ chunk }) => chunk.generation === generation && chunk.position >= from)
        .sort((a, b) => a.chunk.position - b.chunk.position)
        .slice(0, limit)
        .map(({ chunk, vectors, context }) => {
          const vector = vectors.get(vectorField);
          return { chunk: copyRecord(chunk), vector: vector === undefined ? null : [...vector], context };
        });
    },
    async annotate(fileKey, generation, count, words) {
      for (const { chunk } of ofFile(fileKey))
        if (chunk.generation === generation && chunk.position < count)
          Object.assign(chunk, copyRecord(words));
    },
    async *scanGenerations() {
      const groups = new Map<
        string,
        { fileKey: string; generation: number; chunks: number; published: number }
      >();
      for (const { chunk } of entries.values()) {
        const key = `${chunk.file_key}\n${chunk.generation}`;
        const group = groups.get(key) ?? {
          fileKey: chunk.file_key,
          generation: chunk.generation,
          chunks: 0,
          published: 0,
        };
        group.chunks += 1;
        if (chunk.published) group.published += 1;
        groups.set(key, group);
      }
      yield* groups.values();
    },
    async deleteGenerations(fileKey, { keep, upTo }) {
      const doomed = ofFile(fileKey).filter(
        ({ chunk }) => chunk.generation <= upTo && !keep.includes(chunk.generation),
      );
      for (const { chunk } of doomed) entries.delete(chunk.chunk_id);
      return doomed.length;
    },
    async deleteFile(fileKey) {
      const doomed = ofFile(fileKey);
      for (const { chunk } of doomed) entries.delete(chunk.chunk_id);
      return doomed.length;
    },
  };
}
