import type { ChunkStore } from '../../ports/chunks.js';
import { CONTEXT_FIELD, FOUND_FIELDS, foundFromSource, fromSource, SOURCE_FIELDS } from './chunk-document.js';
import type { ChunkSource, FoundSource } from './chunk-document.js';
import type { OpenSearchClient } from './connect-opensearch.js';
import { ofGeneration } from './of-generation.js';
import { readByIds, SEARCH_PAGE, vectorsOf } from './read-by-ids.js';
import { hitsOf } from './search-hits.js';
import type { SearchAnswer } from './search-hits.js';

type ChunkReader = Pick<ChunkStore, 'get' | 'getMany' | 'getVectors' | 'listByFile' | 'listWithVectors'>;

/** Chunks by their ids, and those of a file in their order. */
export function createChunkReader(client: OpenSearchClient, index: string): ChunkReader {
  return {
    async get(id) {
      const source = (
        await readByIds<ChunkSource>(client, index, { ids: [id], fields: SOURCE_FIELDS, signal: undefined })
      ).get(id);
      return source === undefined ? null : fromSource(id, source);
    },

    async getMany(ids, signal) {
      const found = await readByIds<FoundSource>(client, index, { ids, fields: FOUND_FIELDS, signal });
      return new Map([...found].map(([id, source]) => [id, foundFromSource(id, source)]));
    },

    async getVectors(ids, vectorField, signal) {
      const found = await readByIds(client, index, { ids, fields: [vectorField], signal });
      return vectorsOf(
        [...found].map(([_id, _source]) => ({ _id, _source })),
        vectorField,
      );
    },

    async listByFile(fileKey, generation, limit = Infinity) {
      const chunks = [];
      for (let after: number | undefined; chunks.length < limit;) {
        const answer: SearchAnswer = await client.request('POST', `/${index}/_search`, {
          body: {
            size: Math.min(SEARCH_PAGE, limit - chunks.length),
            _source: FOUND_FIELDS,
            track_total_hits: false,
            query: ofGeneration({ fileKey, generation }),
            sort: [{ position: 'asc' }],
            ...(after === undefined ? {} : { search_after: [after] }),
          },
          refused: 'VDB_SEARCH_ERROR',
        });
        const hits = hitsOf(answer);
        chunks.push(...hits.map((hit) => foundFromSource(hit._id, hit._source)));
        if (hits.length < SEARCH_PAGE) break;
        after = hits.at(-1)?._source.position;
      }
      return chunks;
    },

    async listWithVectors(fileKey, generation, { vectorField, from, limit, signal }) {
      const answer = await client.request<SearchAnswer>('POST', `/${index}/_search`, {
        body: {
          size: Math.min(SEARCH_PAGE, limit),
          _source: [...SOURCE_FIELDS, CONTEXT_FIELD, vectorField],
          track_total_hits: false,
          query: {
            bool: {
              filter: [ofGeneration({ fileKey, generation }), { range: { position: { gte: from } } }],
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
