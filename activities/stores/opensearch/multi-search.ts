import type { OpenSearchClient } from './connect-opensearch.js';
import { routingOf } from './routing.js';
import type { SearchAnswer } from './search-hits.js';

export interface Search {
  /** The shards of these are asked; null or left out: all. */
  partitions?: readonly string[] | null;
  body: object;
}

type Answer = SearchAnswer<unknown>;

/**
 * Several searches in one request: a request of its own costs both sides more than a small search does. Answers come in
 * the order of the searches; one that failed says so itself, as `hitsOf` tells.
 */
export function createMultiSearch(
  client: OpenSearchClient,
  index: string,
): (searches: readonly Search[], signal: AbortSignal | undefined) => Promise<Answer[]> {
  return async (searches, signal) => {
    const { responses } = await client.request<{ responses: Answer[] }>('POST', '/_msearch', {
      lines: searches.flatMap(({ partitions = null, body }) => [{ index, ...routingOf(partitions) }, body]),
      signal,
      refused: 'VDB_SEARCH_ERROR',
    });
    return responses;
  };
}
