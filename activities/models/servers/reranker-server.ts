import type { Dispatcher } from 'undici';
import { z } from 'zod';
import type { RerankerProvider } from '../../../schemas/models/model-endpoints.js';
import { openExchange, readJson } from './model-exchange.js';
import type { ModelServerOptions } from './model-server.js';
import { createOpenAiServer } from './openai-server.js';
import { ProviderFailure, readAs } from './provider-failure.js';
import { healthUrl, openAiAddress, plainAddress } from './server-address.js';

export interface RerankCall {
  model: string;
  query: string;
  texts: readonly string[];
}

/** A reranker behind its dialect. Both methods throw `ProviderFailure`, or the signal's reason when aborted. */
export interface RerankerServer {
  /** Scores in the order of the texts, as the server gives them. */
  score(call: RerankCall, signal?: AbortSignal): Promise<number[]>;
  /** Rejects when the server, or the model on it, cannot be used now. */
  check(model: string, signal?: AbortSignal): Promise<void>;
}

interface Dialect {
  body(call: RerankCall): object;
  read(answer: unknown): { index: number; score: number }[];
}

const index = z.int().min(0);
const Results = z.object({ results: z.array(z.object({ index, relevance_score: z.number() })) });
const Ranks = z.array(z.object({ index, score: z.number() }));

/** Source: docs.cohere.com/reference/rerank, which Infinity, vLLM and Jina follow. */
const COHERE: Dialect = {
  body: ({ model, query, texts }) => ({ model, query, documents: texts, return_documents: false }),
  read: (answer) =>
    readAs(Results, answer, 'ranking').results.map(({ index: place, relevance_score: score }) => ({
      index: place,
      score,
    })),
};

/**
 * Source: huggingface.github.io/text-embeddings-inference. A text that is too long is scored by its beginning, where
 * the server would otherwise refuse all of them.
 */
const TEI: Dialect = {
  body: ({ query, texts }) => ({ query, texts, raw_scores: false, truncate: true }),
  read: (answer) => readAs(Ranks, answer, 'ranking'),
};

/** One score for each text, whatever order they came in. */
function inOrder(ranked: readonly { index: number; score: number }[], count: number): number[] {
  const scores = new Map(ranked.map((one) => [one.index, one.score]));
  if (scores.size !== count || ranked.length !== count || Math.max(-1, ...scores.keys()) >= count)
    throw new ProviderFailure('bad-answer', `the provider ranked ${scores.size} of ${count} texts`);
  return Array.from({ length: count }, (_, place) => scores.get(place) ?? 0);
}

export function createRerankerServer(
  dispatcher: Dispatcher,
  provider: RerankerProvider,
  options: ModelServerOptions,
): RerankerServer {
  const { baseUrl, apiKey, timeoutMs } = options;
  const { base, headers } = (provider === 'openai' ? openAiAddress : plainAddress)(baseUrl, apiKey);
  const dialect = provider === 'tei' ? TEI : COHERE;
  return {
    async score(call, signal) {
      const answer = await openExchange({
        dispatcher,
        url: `${base}/rerank`,
        method: 'POST',
        signal,
        timeoutMs,
        headers: { ...headers, 'content-type': 'application/json', accept: 'application/json' },
        body: JSON.stringify(dialect.body(call)),
      });
      return inOrder(dialect.read(await readJson(answer)), call.texts.length);
    },
    async check(model, signal) {
      if (provider === 'openai') {
        const served = await createOpenAiServer(dispatcher, options).models(signal);
        if (!served.some(({ name }) => name === model))
          throw new ProviderFailure('unknown-model', `no model '${model}' is served`);
        return;
      }
      // These serve the model that they were started with.
      const answer = await openExchange({
        dispatcher,
        url: healthUrl(baseUrl),
        headers,
        signal,
        timeoutMs,
      });
      answer.discard();
    },
  };
}
