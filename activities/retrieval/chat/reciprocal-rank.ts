import type { SearchResult } from '../search/search-types.js';

/**
 * Reciprocal rank fusion of several searches: a result counts 1 / (k + rank) in each list that holds it (Cormack,
 * Clarke and Büttcher, SIGIR 2009). Of a result that several lists hold the first one's scores are kept, and the best
 * rerank score. Equal sums keep the order of the first list that holds them.
 */
export function fuseByRank(lists: readonly (readonly SearchResult[])[], k: number): SearchResult[] {
  const fused = new Map<string, { result: SearchResult; sum: number }>();
  for (const list of lists)
    list.forEach((result, index) => {
      const known = fused.get(result.chunk.chunk_id);
      const sum = (known?.sum ?? 0) + 1 / (k + index + 1);
      fused.set(result.chunk.chunk_id, {
        result: known === undefined ? result : better(known.result, result),
        sum,
      });
    });
  return [...fused.values()].sort((a, b) => b.sum - a.sum).map(({ result }) => result);
}

function better(first: SearchResult, other: SearchResult): SearchResult {
  return (other.rerankScore ?? -Infinity) > (first.rerankScore ?? -Infinity)
    ? { ...first, rerankScore: other.rerankScore! }
    : first;
}
