import type { ChunkStore } from '../../ports/chunks.js';
import { CONTEXT_FIELD, fromSource, SOURCE_FIELDS } from './chunk-document.js';
import type { ChunkSource } from './chunk-document.js';
import type { OpenSearchClient } from './connect-opensearch.js';
import { hitsOf } from './search-hits.js';
import type { SearchAnswer } from './search-hits.js';

interface Hit {
  _id: string;
  _source: ChunkSource & Record<string, unknown>;
}

const PAGE = 1_000;
/** A vector of 1,024 numbers takes some 20 kB of JSON. */
export const PAGE_WITH_VECTORS = 200;

/** Pages by generation and position: together they name a chunk, so no page needs a point in time. */
export async function* scanChunks(
  client: OpenSearchClient,
  index: string,
  generations: readonly number[],
  { vectorFields = [], withoutVector, signal }: NonNullable<Parameters<ChunkStore['scanChunks']>[1]> = {},
): ReturnType<ChunkStore['scanChunks']> {
  if (generations.length === 0) return;
  const size = vectorFields.length === 0 ? PAGE : PAGE_WITH_VECTORS;
  for (let after: [number, number] | undefined; ;) {
    const answer = await client.request<SearchAnswer<Hit>>('POST', `/${index}/_search`, {
      body: {
        size,
        _source: [...SOURCE_FIELDS, CONTEXT_FIELD, ...vectorFields],
        track_total_hits: false,
        query: {
          bool: {
            filter: [{ terms: { generation: generations } }, { term: { published: true } }],
            ...(withoutVector !== undefined && { must_not: [{ exists: { field: withoutVector } }] }),
          },
        },
        sort: [{ generation: 'asc' }, { position: 'asc' }],
        ...(after === undefined ? {} : { search_after: after }),
      },
      signal,
      refused: 'VDB_SEARCH_ERROR',
    });
    const hits = hitsOf(answer);
    for (const { _id, _source } of hits) {
      const field = vectorFields.find((name) => Array.isArray(_source[name]));
      const vector = field === undefined ? null : (_source[field] as number[]);
      const context = (_source[CONTEXT_FIELD] as string | undefined) ?? null;
      yield { chunk: fromSource(_id, _source), vector, context };
    }
    const last = hits.at(-1)?._source;
    if (hits.length < size || last === undefined) return;
    after = [last.generation, last.position];
  }
}
