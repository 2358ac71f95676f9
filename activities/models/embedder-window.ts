import type { ModelEndpoint } from '../../schemas/models/model-endpoints.js';

/** Longer windows cost memory for every request, and no chunk is so long. */
const LONGEST_WINDOW = 8192;
/** For a model on Ollama that tells nothing: `num_ctx` must be given, and what does not fit is refused. */
const UNTOLD_WINDOW = 2048;

/**
 * Tokens that an embedder is run with: what its server told, at most MAX_MODEL_LEN. Null: unknown, and the server
 * knows better.
 */
export const embedderWindow = (
  told: number | null,
  provider: ModelEndpoint['provider'],
  maxModelLen: number | null,
): number | null => {
  const known = told ?? (provider === 'ollama' ? UNTOLD_WINDOW : null);
  if (known === null) return maxModelLen;
  return Math.min(known, maxModelLen ?? Infinity, LONGEST_WINDOW);
};
