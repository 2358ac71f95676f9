import type { ChunkStore } from '../../ports/chunks.js';
import { CONTEXT_FIELD, fromSource, SOURCE_FIELDS } from './chunk-document.js';
import type { ChunkSource } from './chunk-document.js';
import type { OpenSearchClient } from './connect-opensearch.js';
import { hitsOf } from './search-hits.js';
import type { SearchAnswer } from './search-hits.js';

/** The engine's own bound on one page of a search. */
const PAGE = 1_000;

type ChunkReader = Pick<ChunkStore, 'get' | 'getMany' | 'getVectors' | 'listByFile' | 'listWithVectors'>;

/** Chunks by their ids, and those of a file in their order. */
export function createChunkReader(client: OpenSearchClient, index: string): ChunkReader {
  /**
   * The named fields of the documents that searches see. A search: `_mget` wants to know the shard of each, makes an
   * automaton of the names for each, and took three times as long for ten.
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
          size: values.length,
          _source: fields,
          track_total_hits: false,
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
    async get(id) {
      const source = (await readMany([id], SOURCE_FIELDS, undefined)).get(id);
      return source === undefined ? null : fromSource(id, source);
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

    async listWithVectors(fileKey, generation, { vectorField, from, limit, signal }) {
      const answer = await client.request<SearchAnswer>('POST', `/${index}/_search`, {
        body: {
          size: Math.min(PAGE, limit),
          _source: [...SOURCE_FIELDS, CONTEXT_FIELD, vectorField],
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
      return hitsOf(answer).map((hit) => {
        const source = hit._source as unknown as Record<string, unknown>;
        return {
          chunk: fromSource(hit._id, hit._source),
          vector: (source[vectorField] as number[] | undefined) ?? null,
          context: (source[CONTEXT_FIELD] as string | undefined) ?? null,
        };
      });
    },
  };
}
