import { AppError } from '../../schemas/app-error.js';
import type { ModelEndpoint, ModelType } from '../../schemas/documents.js';
import type { Embedder, LanguageModel, ModelEndpointStore, ModelRegistry } from '../ports.js';
import { BUILTIN_ENDPOINT } from './builtin-endpoints.js';
import { createExtractiveModel, EXTRACTIVE_MODEL_NAME } from './extractive-model.js';
import { createHashEmbedder, HASH_MODEL_NAME } from './hash-embedder.js';

/** How a kind of endpoint becomes a model; each answers null for a record it does not know. */
export interface ModelBuilder {
  embedder(endpoint: ModelEndpoint): Embedder | null;
  languageModel(endpoint: ModelEndpoint, contextTokens: number): LanguageModel | null;
}

/** Assumed when neither the endpoint's record nor its server tells (wire contract, section 0). */
const DEFAULT_CONTEXT_TOKENS = 8192;

const builtinBuilder: ModelBuilder = {
  embedder({ endpoint, name, model_name, vector_field }) {
    if (endpoint !== BUILTIN_ENDPOINT || model_name !== HASH_MODEL_NAME || vector_field === null) return null;
    return createHashEmbedder({ endpointName: name, vectorField: vector_field });
  },
  languageModel({ endpoint, name, model_name }, contextTokens) {
    if (endpoint !== BUILTIN_ENDPOINT || model_name !== EXTRACTIVE_MODEL_NAME) return null;
    return createExtractiveModel({ endpointName: name, contextTokens });
  },
};

/**
 * Model endpoints by name, made into models. Records are read at each call, so that an edit takes effect at once.
 *
 * @param options.builders tried in order; the built-in models by default
 * @param options.contextTokens for language models whose record tells no context size
 */
export const createModelRegistry = (options: {
  endpoints: Pick<ModelEndpointStore, 'list' | 'get' | 'defaults'>;
  builders?: readonly ModelBuilder[];
  contextTokens?: number;
}): ModelRegistry => {
  const { endpoints, builders = [builtinBuilder], contextTokens = DEFAULT_CONTEXT_TOKENS } = options;

  const record = async (type: ModelType, name: string): Promise<ModelEndpoint> => {
    const found = await endpoints.get(type, name);
    if (found === null)
      throw new AppError(
        'MODEL_ENDPOINT_NOT_FOUND',
        `The model endpoint '${name}' (${type}) is not registered.`,
      );
    return found;
  };

  const build = <Model>(endpoint: ModelEndpoint, make: (builder: ModelBuilder) => Model | null): Model => {
    for (const builder of builders) {
      const model = make(builder);
      if (model !== null) return model;
    }
    // The address is left out: it may carry a password.
    throw new AppError(
      'CONFIG_ERROR',
      `The model endpoint '${endpoint.name}' (${endpoint.model_type}, model '${endpoint.model_name}') is of a kind that this release cannot use.`,
    );
  };

  return {
    async list(type) {
      const [found, defaults] = await Promise.all([endpoints.list(type), endpoints.defaults()]);
      return found.map((endpoint) => ({
        ...endpoint,
        is_default: defaults[endpoint.model_type] === endpoint.name,
      }));
    },
    async defaultName(type) {
      return (await endpoints.defaults())[type] ?? null;
    },
    async embedder(name) {
      const endpoint = await record('embedder', name);
      return build(endpoint, (builder) => builder.embedder(endpoint));
    },
    async languageModel(name) {
      const chosen = name ?? (await endpoints.defaults()).llm;
      if (chosen === undefined)
        throw new AppError('MODEL_ENDPOINT_NOT_FOUND', 'No language model is registered as the default.');
      const endpoint = await record('llm', chosen);
      return build(endpoint, (builder) =>
        builder.languageModel(endpoint, endpoint.context_tokens ?? contextTokens),
      );
    },
  };
};
