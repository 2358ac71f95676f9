import type { ModelEndpoint } from '../../schemas/models/model-endpoints.js';

function wholeNumber(value: unknown): number | null {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 ? value : null;
}

/** The context window set for a language model (`extra.max_llm_context_size`); null: not set. */
export function wantedContext({ extra }: Pick<ModelEndpoint, 'extra'>): number | null {
  return wholeNumber(extra['max_llm_context_size']);
}

/** Tokens of an answer where a request names no number (`extra.max_output_tokens`); null: unsaid. */
export function ownAnswerTokens({ extra }: Pick<ModelEndpoint, 'extra'>): number | null {
  return wholeNumber(extra['max_output_tokens']);
}

/**
 * The raw cosine that hits of an embedder must reach where a search names none (`extra.similarity_threshold`, 0 to 1);
 * null: unsaid.
 */
export function ownThreshold({ extra }: Pick<ModelEndpoint, 'extra'>): number | null {
  const { similarity_threshold: threshold } = extra;
  return typeof threshold === 'number' && threshold >= 0 && threshold <= 1 ? threshold : null;
}

/** Longer windows cost memory for every request, and no chunk is so long. */
const MAX_WINDOW = 8192;

/** For a model on Ollama that tells nothing: `num_ctx` must be given, and what does not fit is refused. */
const UNTOLD_WINDOW = 2048;

/**
 * Tokens that an embedder is run with: what its server told, at most MAX_MODEL_LEN. Null: unknown, and the server
 * knows better.
 */
export function embedderWindow(
  told: number | null,
  provider: ModelEndpoint['provider'],
  maxModelLen: number | null,
): number | null {
  const known = told ?? (provider === 'ollama' ? UNTOLD_WINDOW : null);
  if (known === null) return maxModelLen;
  return Math.min(known, maxModelLen ?? Infinity, MAX_WINDOW);
}
