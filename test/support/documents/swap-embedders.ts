import { createHashEmbedder } from '../../../activities/models/builtin/hash-embedder.js';
import type { Embedder } from '../../../activities/ports/models.js';
import { AppError } from '../../../schemas/app-error.js';
import { seededRandom } from '../seeded-random.js';

const hashed = createHashEmbedder({ endpointName: 'plain', vectorField: 'vector_plain' });

/** Another model in a field of its own: the words' vectors, turned by one place. */
const turned: Embedder = {
  ...hashed,
  endpointName: 'turned',
  modelName: 'turned',
  vectorField: 'vector_turned',
  batchSize: 4,
  embed: async (texts, options) =>
    (await hashed.embed(texts, options)).map((vector) => [...vector.slice(1), vector[0] ?? 0]),
};

/** One that knows nothing: whatever it is given, its vectors say nothing of it. */
function createBad(): Embedder {
  const random = seededRandom(7);
  return {
    ...hashed,
    endpointName: 'bad',
    modelName: 'bad',
    vectorField: 'vector_bad',
    embed: async (texts) => texts.map(() => Array.from({ length: hashed.dimension }, () => random() - 0.5)),
  };
}

/**
 * Embedders by name; `away` are those that do not answer, `gone` those that are deleted. `embedded` counts texts of
 * documents by embedder, `texts` keeps them.
 */
export function createSwapEmbedders() {
  const known = new Map([turned, createBad()].map((embedder) => [embedder.endpointName, embedder]));
  const state = {
    away: new Set<string>(),
    gone: new Set<string>(),
    embedded: new Map<string, number>(),
    texts: new Map<string, string[]>(),
  };
  const get = (name: string, plain: Embedder): Embedder => {
    if (state.gone.has(name)) throw new AppError('MODEL_ENDPOINT_NOT_FOUND');
    const embedder = known.get(name) ?? plain;
    return {
      ...embedder,
      async embed(texts, options) {
        if (state.away.has(name)) throw new AppError('EMBEDDING_API_ERROR');
        if (options.kind === 'document') {
          state.embedded.set(name, (state.embedded.get(name) ?? 0) + texts.length);
          state.texts.set(name, [...(state.texts.get(name) ?? []), ...texts]);
        }
        return embedder.embed(texts, options);
      },
    };
  };
  return { state, get };
}
