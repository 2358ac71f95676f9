import { AppError } from '../../../schemas/app-error.js';
import type { ModelRegistry } from '../../ports/models.js';
import type { RerankTrace } from './retrieval-trace.js';
import type { RerankRequest, SearchResult } from './search-types.js';

interface Reranked {
  results: SearchResult[];
  /** Null: no reranker is configured, or there was nothing to do. */
  trace: RerankTrace | null;
}

/**
 * The results in the order of a cross-encoder, which reads question and chunk together. Without a reranker they stay as
 * they are; so they do when it fails and `onError` is `skip`.
 * @throws AppError of the reranker, as its port says, and MODEL_ENDPOINT_NOT_FOUND for a name that is not registered
 */
export async function rerankResults(
  models: Pick<ModelRegistry, 'reranker'>,
  results: readonly SearchResult[],
  request: RerankRequest & { text: string; onError: 'fail' | 'skip'; signal?: AbortSignal | undefined },
): Promise<Reranked> {
  const { text, signal, onError, reranker: name } = request;
  const unchanged = { results: [...results], trace: null };
  if (!request.enabled || results.length === 0 || text.trim() === '') return unchanged;
  const named = { endpoint: name ?? 'default', model: '' };
  try {
    const reranker = await models.reranker(name);
    if (reranker === null) return unchanged;
    Object.assign(named, { endpoint: reranker.endpointName, model: reranker.modelName });
    const scores = await reranker.rerank(
      text,
      results.map(({ chunk }) => chunk.text),
      signal === undefined ? {} : { signal },
    );
    const ranked = results
      .map((result, index) => ({ ...result, rerankScore: scores[index] ?? 0 }))
      .sort((a, b) => b.rerankScore - a.rerankScore);
    const ranking = ranked.map(({ chunk, rerankScore }) => ({ id: chunk.chunk_id, score: rerankScore }));
    return { results: ranked.slice(0, request.topN ?? ranked.length), trace: { ...named, ranking } };
  } catch (error) {
    if (onError === 'fail' || !(error instanceof AppError)) throw error;
    return { ...unchanged, trace: { ...named, ranking: [], skipped: error.code } };
  }
}
