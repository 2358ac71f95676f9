import type { OpenSearchClient } from './connect-opensearch.js';
import { hitsOf } from './search-hits.js';
import type { SearchAnswer } from './search-hits.js';

/** The engine's own bound on one page of a search. */
export const SEARCH_PAGE = 1_000;

export interface SourceHit<Source = unknown> {
  _id: string;
  _source: Source;
}

/** Vectors by id; what has none in the field is left out. */
export function vectorsOf(hits: readonly SourceHit[], vectorField: string): Map<string, number[]> {
  return new Map(
    hits.flatMap(({ _id: id, _source: source }) => {
      const vector = (source as Record<string, number[] | undefined>)[vectorField];
      return vector === undefined ? [] : [[id, vector]];
    }),
  );
}

/** The search for the named fields of some documents, of a page of them at most. */
export function byIds(ids: readonly string[], fields: readonly string[]): object {
  return {
    size: ids.length,
    _source: fields,
    track_total_hits: false,
    query: { bool: { filter: { ids: { values: ids } } } },
  };
}

/**
 * The named fields of the documents that searches see, in the order of the ids, whatever shards they are in. A search:
 * `_mget` wants to know the shard of each, makes an automaton of the names for each, and took three times as long for
 * ten.
 */
export async function readByIds<Source>(
  client: OpenSearchClient,
  index: string,
  {
    ids,
    fields,
    signal,
  }: { ids: readonly string[]; fields: readonly string[]; signal: AbortSignal | undefined },
): Promise<Map<string, Source>> {
  const wanted = [...new Set(ids)];
  const found = new Map<string, Source>();
  for (let from = 0; from < wanted.length; from += SEARCH_PAGE) {
    const values = wanted.slice(from, from + SEARCH_PAGE);
    const answer = await client.request<SearchAnswer<SourceHit<Source>>>('POST', `/${index}/_search`, {
      body: byIds(values, fields),
      signal,
      refused: 'VDB_SEARCH_ERROR',
    });
    for (const { _id: id, _source: source } of hitsOf(answer)) found.set(id, source);
  }
  return new Map(wanted.flatMap((id) => (found.has(id) ? [[id, found.get(id)!]] : [])));
}
