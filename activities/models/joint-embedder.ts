import { AppError } from '../../schemas/app-error.js';
import { createJointCalls } from '../joint-calls.js';
import type { Embedder } from '../ports/models.js';
import { ProviderFailure } from './servers/provider-failure.js';

const WINDOW_MS = 5;

/** What says nothing about the texts: asking again with fewer of them would only cost time. */
function isServersState(error: unknown): boolean {
  if (!(error instanceof AppError)) return false;
  if (error.code === 'CIRCUIT_BREAKER_OPEN' || error.code === 'INFERENCE_REFUSED') return true;
  return error.cause instanceof ProviderFailure && error.cause.kind === 'connection';
}

/**
 * The same embedder, which sends the few texts of several small documents in one request: a model takes a batch in half
 * the time of its texts one by one. A joint request that is refused is made again for each document by itself. Many
 * texts of one document, and questions, are sent as they come.
 *
 * @param size texts of one joint request
 */
export function createJointEmbedder(embedder: Embedder, size: number): Embedder {
  const embedDocuments = createJointCalls<string, number[]>({
    size,
    windowMs: WINDOW_MS,
    call: (texts, signal) => embedder.embed(texts, { kind: 'document', ...(signal && { signal }) }),
    isForAll: isServersState,
  });
  return {
    ...embedder,
    embed: (texts, options) =>
      options.kind === 'query' ? embedder.embed(texts, options) : embedDocuments(texts, options.signal),
  };
}
