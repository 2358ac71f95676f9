import type { Embedder } from '../../ports/models.js';
import { createLoopBudget } from '../../text/loop-budget.js';
import { HASH_DIMENSION, hashVector } from './hash-vector.js';

export const HASH_MODEL_NAME = 'builtin/hash-1024';

/** So many characters (about 5 ms of chunks) in a turn of the event loop, of all calls. */
const room = createLoopBudget(16_000);

/**
 * The embedder that needs no model server: signed hashing of words, word pairs and letter grams (see
 * `hashVector`). Lexical, so it adds tolerance of inflection and spelling to BM25, not meaning. For first runs,
 * tests and air-gapped use. Any length of text is taken. Rejects with the signal's reason when aborted.
 */
export function createHashEmbedder(options: { endpointName: string; vectorField: string }): Embedder {
  return {
    endpointName: options.endpointName,
    modelName: HASH_MODEL_NAME,
    dimension: HASH_DIMENSION,
    vectorField: options.vectorField,
    batchSize: 64,
    maxInputTokens: null,
    async embed(texts, { signal }) {
      const vectors: number[][] = [];
      for (const text of texts) {
        await room(text.length + 1);
        signal?.throwIfAborted();
        vectors.push(hashVector(text));
      }
      return vectors;
    },
  };
}
