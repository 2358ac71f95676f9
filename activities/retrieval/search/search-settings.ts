import type { RetrievalConfig } from '../../../schemas/models/presets.js';
import type { SearchRequest } from './search-types.js';

/** What a retrieval preset sets of a search: candidates and reranking. Without a preset the service's settings hold. */
export function searchSettings(config: RetrievalConfig | null): Pick<SearchRequest, 'candidates' | 'rerank'> {
  if (config === null) return {};
  const { enable_reranker: enabled, reranker, top_k: candidates } = config;
  return { candidates, rerank: { enabled, ...(reranker !== null && { reranker }) } };
}
