import { AppError } from '../../../schemas/app-error.js';
import { chunkId } from '../../../schemas/chunk-id.js';
import { inScope } from '../../../schemas/users.js';
import type { ChunkStore, SearchLegHit } from '../../chunk-ports.js';
import { bulkUpdate } from './bulk.js';
import type { BulkUpdate } from './bulk.js';
import { toStoredEntry } from '../../retrieval/metadata-entries.js';
import { fromColumns, fromSource, headsOnly, SOURCE_FIELDS, toSource } from './chunk-document.js';
import type { ChunkSource, HeadColumns } from './chunk-document.js';
import type { OpenSearchClient } from './connect-opensearch.js';
import { deleteChunks } from './delete-chunks.js';
import { ensureChunkIndex, isSchemaBehind } from './ensure-chunk-index.js';
import { cosineOf, hybridQuery } from './hybrid-query.js';
import { readError } from './opensearch-errors.js';
import { scanChunks } from './scan-chunks.js';
import { scanGenerations } from './scan-generations.js';
import { createSharedRefresh } from './shared-refresh.js';

interface Hit {
  _id: string;
  _score: number;
  _source: ChunkSource;
}
interface HeadHit {
  _score: number;
  fields: HeadColumns;
}
interface SearchAnswer<Found = Hit> {
  status?: number;
  error?: unknown;
  hits?: { hits: Found[] };
}

type VectorField = Parameters<ChunkStore['ensureSchema']>[0][number];

/** The engine's own bound on one page of a search. */
const PAGE = 1_000;

/** Chunks in index `{indexPrefix}chunks-v3`, with one vector field per embedder. */
export const createOpenSearchChunkStore = (
  client: OpenSearchClient,
  options: { indexPrefix: string },
): ChunkStore => {
  const index = `${options.indexPrefix}chunks-v3`;
  const refresh = createSharedRefresh(client, index);
  /** Fields that could not be made sure of, since the index was of an older release; null: none. */
  let owed: VectorField[] | null = null;
  const requireSchema = async (): Promise<void> => {
    if (owed === null) return;
    await ensureChunkIndex(client, index, owed);
    owed = null;
  };
  /**
   * The named fields of the documents that searches see. A search: `_mget` makes an automaton of the names for each
   * document, and took three times as long for ten.
   */
  const readMany = async (
    ids: readonly string[],
    fields: readonly string[],
    signal: AbortSignal | undefined,
  ): Promise<Map<string, ChunkSource>> => {
    if (ids.length === 0) return new Map();
    const wanted = [...new Set(ids)];
    const found = new Map<string, ChunkSource>();
    for (let from = 0; from < wanted.length; from += PAGE) {
      const values = wanted.slice(from, from + PAGE);
      const answer = await client.request<SearchAnswer>('POST', `/${index}/_search`, {
        body: {
          ...{ size: values.length, _source: fields, track_total_hits: false },
          query: { bool: { filter: { ids: { values } } } },
        },
        signal,
        refused: 'VDB_SEARCH_ERROR',
      });
      for (const { _id: id, _source: source } of hitsOf(answer)) found.set(id, source);
    }
    return new Map(wanted.flatMap((id) => (found.has(id) ? [[id, found.get(id)!]] : [])));
  };
  return {
    async ensureSchema(fields) {
      try {
        await ensureChunkIndex(client, index, fields);
      } catch (error) {
        if (isSchemaBehind(error)) owed = [...(owed ?? []), ...fields];
        throw error;
      }
    },

    requireSchema,

    async put(chunks, vectorField, signal) {
      await requireSchema();
      const results = await bulkUpdate(client, index, putUpdates(chunks, vectorField), {
        refresh: 'false',
        signal,
      });
      const refused = results.filter(({ status }) => status >= 300);
      if (refused.length === 0) return;
      const message = refused[0]?.reason ?? undefined;
      // 404: the index itself is gone. 409 and 5xx: nothing that the chunk is to blame for.
      const blameless = refused.some(({ status }) => status === 404 || status === 409 || status >= 500);
      throw new AppError(blameless ? 'VDB_ERROR' : 'VDB_INSERT_ERROR', message, {
        details: { refused: refused.length },
      });
    },

    async publish(fileKey, generation, count, signal) {
      const results = await bulkUpdate(client, index, publishUpdates(fileKey, generation, count), {
        refresh: 'wait_for',
        signal,
      });
      const missing = results.filter(({ status }) => status === 404).length;
      if (missing > 0)
        throw new AppError('VDB_ERROR', `${missing} of ${count} chunks to publish are missing.`, {
          details: { missing },
        });
      const failed = results.find(({ status }) => status >= 300);
      if (failed !== undefined) throw new AppError('VDB_ERROR', failed.reason ?? undefined);
      // Published by an earlier attempt, which may have died before its refresh; `wait_for` waits for writes only.
      if (results.some(({ result }) => result === 'noop')) await refresh(signal);
    },

    async searchHybrid(request) {
      await requireSchema();
      const { lexical, dense } = hybridQuery(request);
      const lines = [lexical, dense].flatMap((leg) => (leg === null ? [] : [{ index }, leg]));
      if (lines.length === 0) return { lexical: [], dense: [] };
      const { responses } = await client.request<{ responses: SearchAnswer<HeadHit>[] }>(
        'POST',
        '/_msearch',
        {
          lines,
          signal: request.signal,
          refused: 'VDB_SEARCH_ERROR',
        },
      );
      const legs = responses.map((answer) => hitsOf(answer));
      return {
        lexical: lexical === null ? [] : (legs.shift() ?? []).map((hit) => toLegHit(hit, hit._score)),
        dense: dense === null ? [] : (legs.shift() ?? []).map((hit) => toLegHit(hit, cosineOf(hit._score))),
      };
    },

    async countChunks(scope, partition) {
      if (!inScope(scope, partition)) return { chunks: 0, published: 0 };
      const { aggregations } = await client.request<{
        aggregations: { all: { doc_count: number; published: { doc_count: number } } };
      }>('POST', `/${index}/_search`, {
        body: {
          size: 0,
          aggs: {
            all: {
              filter: { term: { partition } },
              aggs: { published: { filter: { term: { published: true } } } },
            },
          },
        },
        refused: 'VDB_SEARCH_ERROR',
      });
      const { doc_count: chunks, published } = aggregations.all;
      return { chunks, published: published.doc_count };
    },

    async get(id) {
      const { docs } = await client.request<{
        docs: (Partial<Hit> & { found?: boolean; error?: unknown })[];
      }>('POST', `/${index}/_mget`, {
        body: { docs: [{ _id: id, _source: SOURCE_FIELDS }] },
        refused: 'VDB_SEARCH_ERROR',
      });
      const document = docs[0];
      if (document?.error !== undefined) throw readError(document);
      return document?.found === true && document._source ? fromSource(id, document._source) : null;
    },

    async getMany(ids, signal) {
      const found = await readMany(ids, SOURCE_FIELDS, signal);
      return new Map([...found].map(([id, source]) => [id, fromSource(id, source)]));
    },

    async getVectors(ids, vectorField, signal) {
      const found = await readMany(ids, [vectorField], signal);
      return new Map(
        [...found].flatMap(([id, source]) => {
          const { [vectorField]: vector } = source as { [field: string]: unknown };
          return vector === undefined ? [] : [[id, vector as number[]]];
        }),
      );
    },

    async similarities(ids, { vector, vectorField, signal }) {
      if (ids.length === 0 || vector.every((value) => value === 0)) return new Map();
      // Not more candidates than are looked for: then each is compared, and nothing is searched.
      const filter = { bool: { filter: [{ ids: { values: ids } }, { term: { published: true } }] } };
      const answer = await client.request<SearchAnswer<HeadHit>>('POST', `/${index}/_search`, {
        body: {
          size: ids.length,
          ...headsOnly({ traits: false }),
          query: { knn: { [vectorField]: { vector, k: ids.length, filter } } },
        },
        signal,
        refused: 'VDB_SEARCH_ERROR',
      });
      return new Map(
        hitsOf(answer).map(({ fields, _score: score }) => [fromColumns(fields).chunk_id, cosineOf(score)]),
      );
    },

    async listByFile(fileKey, generation, limit = Infinity) {
      const chunks = [];
      for (let after: number | undefined; chunks.length < limit;) {
        const answer: SearchAnswer = await client.request('POST', `/${index}/_search`, {
          body: {
            size: Math.min(PAGE, limit - chunks.length),
            _source: SOURCE_FIELDS,
            track_total_hits: false,
            query: { bool: { filter: [{ term: { file_key: fileKey } }, { term: { generation } }] } },
            sort: [{ position: 'asc' }],
            ...(after === undefined ? {} : { search_after: [after] }),
          },
          refused: 'VDB_SEARCH_ERROR',
        });
        const hits = hitsOf(answer);
        chunks.push(...hits.map((hit) => fromSource(hit._id, hit._source)));
        if (hits.length < PAGE) break;
        after = hits.at(-1)?._source.position;
      }
      return chunks;
    },

    scanChunks: (generations, options) => scanChunks(client, index, generations, options),

    async listWithVectors(fileKey, generation, { vectorField, from, limit, signal }) {
      const answer = await client.request<SearchAnswer>('POST', `/${index}/_search`, {
        body: {
          size: Math.min(PAGE, limit),
          _source: [...SOURCE_FIELDS, vectorField],
          track_total_hits: false,
          query: {
            bool: {
              filter: [
                { term: { file_key: fileKey } },
                { term: { generation } },
                { range: { position: { gte: from } } },
              ],
            },
          },
          sort: [{ position: 'asc' }],
        },
        signal,
        refused: 'VDB_SEARCH_ERROR',
      });
      return hitsOf(answer).map((hit) => ({
        chunk: fromSource(hit._id, hit._source),
        vector: (hit._source as unknown as Record<string, number[] | undefined>)[vectorField] ?? null,
      }));
    },

    async annotate(fileKey, generation, count, words, signal) {
      const results = await bulkUpdate(client, index, annotations(fileKey, generation, count, words), {
        refresh: 'wait_for',
        signal,
      });
      const failed = results.find(({ status }) => status >= 300 && status !== 404);
      if (failed !== undefined) throw new AppError('VDB_ERROR', failed.reason ?? undefined);
    },

    scanGenerations: () => scanGenerations(client, index),

    deleteGenerations: (fileKey, { keep, upTo }) =>
      deleteChunks(client, index, {
        bool: {
          filter: [{ term: { file_key: fileKey } }, { range: { generation: { lte: upTo } } }],
          must_not: keep.length === 0 ? [] : [{ terms: { generation: keep } }],
        },
      }),

    deleteFile: (fileKey) => deleteChunks(client, index, { term: { file_key: fileKey } }),
  };
};

/** Updates that insert what is missing, and change nothing where the same chunk is there already. */
function* putUpdates(chunks: Parameters<ChunkStore['put']>[0], vectorField: string): Generator<BulkUpdate> {
  for (const { chunk, vector } of chunks)
    yield {
      id: chunkId(chunk.file_key, chunk.generation, chunk.position),
      body: { doc: toSource(chunk, vector, vectorField), doc_as_upsert: true },
    };
}

function* publishUpdates(fileKey: string, generation: number, count: number): Generator<BulkUpdate> {
  for (let position = 0; position < count; position += 1)
    yield { id: chunkId(fileKey, generation, position), body: { doc: { published: true } } };
}

function* annotations(
  fileKey: string,
  generation: number,
  count: number,
  { partition, relationship_id, parent_id, metadata }: Parameters<ChunkStore['annotate']>[3],
): Generator<BulkUpdate> {
  const doc = { partition, relationship_id, parent_id, metadata: metadata.map(toStoredEntry) };
  for (let position = 0; position < count; position += 1)
    yield { id: chunkId(fileKey, generation, position), body: { doc } };
}

const hitsOf = <Found = Hit>(answer: SearchAnswer<Found>): Found[] => {
  if (answer.error !== undefined) throw readError(answer);
  return answer.hits?.hits ?? [];
};

const toLegHit = ({ fields }: HeadHit, score: number): SearchLegHit => ({
  chunk: fromColumns(fields),
  score,
});
