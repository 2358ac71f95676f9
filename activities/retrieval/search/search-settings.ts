import type { RetrievalConfig } from '../../../schemas/models/presets.js';
import type { SearchRequest } from './search-types.js';

/**
 * What a retrieval preset sets of a search: candidates, the weight of vectors, reranking.
 * Without a preset the service's settings hold.
 */
export function searchSettings(
  config: RetrievalConfig | null,
): Pick<SearchRequest, 'candidates' | 'vectorWeight' | 'rerank'> {
  if (config === null) return {};
  const { enable_reranker: enabled, reranker, top_k: candidates, vector_weight: vectorWeight } = config;
  return {
    candidates,
    ...(vectorWeight !== null && { vectorWeight }),
    rerank: { enabled, ...(reranker !== null && { reranker }) },
  };
}
