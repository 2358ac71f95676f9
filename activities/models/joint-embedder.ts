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
 * texts of one document are sent as they come.
 *
 * A question never waits for others to come. While one is being embedded, those that come meanwhile go together, if the
 * server takes requests one after the other anyway; otherwise each is sent as it comes.
 *
 * @param options.size texts of one joint request
 * @param options.joinsQuestions whether the server works on one request at a time
 */
export function createJointEmbedder(
  embedder: Embedder,
  { size, joinsQuestions }: { size: number; joinsQuestions: boolean },
): Embedder {
  const together = (kind: 'document' | 'query', windowMs: number) =>
    createJointCalls<string, number[]>({
      size,
      windowMs,
      call: (texts, signal) => embedder.embed(texts, { kind, ...(signal && { signal }) }),
      isForAll: isServersState,
    });
  const embedDocuments = together('document', WINDOW_MS);
  const embedQuestions = joinsQuestions ? together('query', 0) : null;
  return {
    ...embedder,
    embed(texts, options) {
      if (options.kind === 'document') return embedDocuments(texts, options.signal);
      return embedQuestions?.(texts, options.signal) ?? embedder.embed(texts, options);
    },
  };
}
