import type { Reranker } from '../ports/models.js';
import type { ResilientCalls } from './resilience.js';
import { ProviderFailure, providerError } from './servers/provider-failure.js';
import { plainText } from './servers/wordpiece-text.js';
import type { RerankerServer } from './servers/reranker-server.js';

/**
 * A reranker on a server. Texts go in batches, since a server takes so many at once; the time allowed is for all of
 * them and for waiting, because a search waits for the answer.
 */
export function createRemoteReranker(options: {
  endpointName: string;
  modelName: string;
  /** Texts in one request. */
  batchSize: number;
  /** Milliseconds for one reranking in all. */
  timeoutMs: number;
  server: RerankerServer;
  calls: ResilientCalls;
}): Reranker {
  const { endpointName, modelName, batchSize, timeoutMs, server, calls } = options;
  return {
    endpointName,
    modelName,
    async rerank(query, texts, { signal }) {
      signal?.throwIfAborted();
      const failed = new AbortController();
      const budget = AbortSignal.timeout(timeoutMs);
      const given = AbortSignal.any([budget, failed.signal, ...(signal === undefined ? [] : [signal])]);
      const late = (error: unknown): unknown =>
        budget.aborted && signal?.aborted !== true && !(error instanceof ProviderFailure)
          ? new ProviderFailure('timeout', `no ranking within ${timeoutMs / 1000} s`, { cause: error })
          : error;
      const score = (batch: readonly string[]): Promise<number[]> =>
        calls.run(
          () =>
            // Here, so that the circuit breaker counts a server that is too slow as failed.
            server
              .score({ model: modelName, query: plainText(query), texts: batch.map(plainText) }, given)
              .catch((error: unknown) => {
                throw late(error);
              }),
          given,
        );
      const batches = [];
      for (let from = 0; from < texts.length; from += batchSize)
        batches.push(texts.slice(from, from + batchSize));
      try {
        return (await Promise.all(batches.map(score))).flat();
      } catch (error) {
        failed.abort(error);
        throw providerError(late(error), 'reranking', endpointName);
      }
    },
  };
}
