import { setImmediate } from 'node:timers/promises';
import type { Embedder } from '../../ports/models.js';
import { HASH_DIMENSION, hashVector } from './hash-vector.js';

export const HASH_MODEL_NAME = 'builtin/hash-1024';

/** So many characters (about 5 ms of chunks) between two looks at the event loop and the signal. */
const CHARACTERS_PER_TURN = 16_000;

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
      let left = 0;
      for (const text of texts) {
        if (left <= 0) {
          await setImmediate();
          signal?.throwIfAborted();
          left = CHARACTERS_PER_TURN;
        }
        left -= text.length + 1;
        vectors.push(hashVector(text));
      }
      return vectors;
    },
  };
}
