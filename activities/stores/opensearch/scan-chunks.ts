import type { StoredChunk } from '../../../schemas/documents/documents.js';
import type { HeldChunk, ScanOptions } from '../../ports/chunks.js';
import { CONTEXT_FIELD, FOUND_FIELDS, foundFromSource, fromSource, SOURCE_FIELDS } from './chunk-document.js';
import type { ChunkSource } from './chunk-document.js';
import type { OpenSearchClient } from './connect-opensearch.js';
import { hitsOf } from './search-hits.js';
import type { SearchAnswer } from './search-hits.js';

interface Hit {
  _id: string;
  _source: ChunkSource & Record<string, unknown>;
}

/** What is held with a chunk. */
function besideChunk({ _source }: Hit, vectorFields: readonly string[]): Omit<HeldChunk, 'chunk'> {
  const field = vectorFields.find((name) => Array.isArray(_source[name]));
  return {
    vector: field === undefined ? null : (_source[field] as number[]),
    context: (_source[CONTEXT_FIELD] as string | undefined) ?? null,
  };
}

const PAGE = 1_000;
/** A vector of 1,024 numbers takes some 20 kB of JSON. */
export const PAGE_WITH_VECTORS = 200;

/**
 * Pages by generation and position: together they name a chunk, so no page needs a point in time.
 * @param options.metadata otherwise the chunks have none
 */
export async function* scanChunks(
  client: OpenSearchClient,
  index: string,
  generations: readonly number[],
  {
    vectorFields = [],
    withoutVector,
    metadata = false,
    pageSize = PAGE,
    signal,
  }: ScanOptions & { metadata?: boolean } = {},
): AsyncIterable<HeldChunk> {
  if (generations.length === 0) return;
  const size = Math.min(pageSize, vectorFields.length === 0 ? PAGE : PAGE_WITH_VECTORS);
  const fields = metadata ? SOURCE_FIELDS : FOUND_FIELDS;
  const read = ({ _id, _source }: Hit): StoredChunk =>
    metadata ? fromSource(_id, _source) : (foundFromSource(_id, _source) as StoredChunk);
  for (let after: [number, number] | undefined; ;) {
    const answer = await client.request<SearchAnswer<Hit>>('POST', `/${index}/_search`, {
      body: {
        size,
        _source: [...fields, CONTEXT_FIELD, ...vectorFields],
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
    for (const hit of hits) yield { chunk: read(hit), ...besideChunk(hit, vectorFields) };
    const last = hits.at(-1)?._source;
    if (hits.length < size || last === undefined) return;
    after = [last.generation, last.position];
  }
}
