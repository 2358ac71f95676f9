import { AppError } from '../../schemas/app-error.js';
import { DEFAULT_ALIAS } from '../../schemas/models/endpoint-names.js';
import type { ModelEndpoint, ModelType } from '../../schemas/models/model-endpoints.js';
import { notRegistered } from '../../schemas/models/not-registered.js';
import type {
  Embedder,
  LanguageModel,
  ModelEndpointStore,
  ModelRegistry,
  Reranker,
  Transcriber,
} from '../ports/models.js';
import { BUILTIN_ENDPOINT } from './builtin/builtin-endpoints.js';
import { wantedContext } from './endpoint-extra.js';
import { createExtractiveModel, EXTRACTIVE_MODEL_NAME } from './builtin/extractive-model.js';
import { createHashEmbedder, HASH_MODEL_NAME } from './builtin/hash-embedder.js';

/** How a kind of endpoint becomes a model; each answers null for a record it does not know. */
export interface ModelBuilder {
  embedder(endpoint: ModelEndpoint): Promise<Embedder | null>;
  /** @param contextTokens the most that is ever sent */
  languageModel(endpoint: ModelEndpoint, contextTokens: number): Promise<LanguageModel | null>;
  /** @param contextTokens the most that is ever sent */
  visionModel(endpoint: ModelEndpoint, contextTokens: number): Promise<LanguageModel | null>;
  reranker(endpoint: ModelEndpoint): Promise<Reranker | null>;
  transcriber(endpoint: ModelEndpoint): Promise<Transcriber | null>;
  /** Whether the record is of this kind; rejects when its model cannot be used now. */
  check(endpoint: ModelEndpoint, signal?: AbortSignal): Promise<boolean>;
}

/** Assumed when neither the endpoint's record nor its server tells (wire contract, section 0). */
const DEFAULT_CONTEXT_TOKENS = 8192;

const KINDS = { llm: 'language model', vlm: 'vision model' } as const;

export const builtinModels: ModelBuilder = {
  async embedder({ endpoint, name, model_name, vector_field }) {
    if (endpoint !== BUILTIN_ENDPOINT || model_name !== HASH_MODEL_NAME || vector_field === null) return null;
    return createHashEmbedder({ endpointName: name, vectorField: vector_field });
  },
  async languageModel({ endpoint, name, model_name }, contextTokens) {
    if (endpoint !== BUILTIN_ENDPOINT || model_name !== EXTRACTIVE_MODEL_NAME) return null;
    return createExtractiveModel({ endpointName: name, contextTokens });
  },
  // There is none that sees.
  visionModel: async () => null,
  // There is none: to rank by words once more would add nothing to BM25.
  reranker: async () => null,
  // There is none that hears.
  transcriber: async () => null,
  async check({ endpoint }) {
    return endpoint === BUILTIN_ENDPOINT;
  },
};

/**
 * Model endpoints by name, made into models. Records are asked for at each call, so that an edit takes effect at once.
 *
 * @param options.builders tried in order; the built-in models by default
 * @param options.contextTokens the most that a language model is ever sent, and assumed where none is known
 */
export function createModelRegistry(options: {
  endpoints: Pick<ModelEndpointStore, 'list' | 'get' | 'defaults'>;
  builders?: readonly ModelBuilder[];
  contextTokens?: number;
}): ModelRegistry {
  const { endpoints, builders = [builtinModels], contextTokens = DEFAULT_CONTEXT_TOKENS } = options;

  const record = async (type: ModelType, name: string): Promise<ModelEndpoint> => {
    const found = await endpoints.get(type, name);
    if (found === null) throw notRegistered(type, name);
    return found;
  };

  const build = async <Model>(
    endpoint: ModelEndpoint,
    make: (builder: ModelBuilder) => Promise<Model | null>,
  ): Promise<Model> => {
    for (const builder of builders) {
      const model = await make(builder);
      if (model !== null) return model;
    }
    // The address is left out: it may carry a password.
    throw new AppError(
      'CONFIG_ERROR',
      `The model endpoint '${endpoint.name}' (${endpoint.model_type}, model '${endpoint.model_name}') is of a kind that this release cannot use.`,
    );
  };

  /** The default also goes by `default`, unless something is called so. */
  const chosenName = async (type: ModelType, name: string | undefined): Promise<string | undefined> => {
    const named = name === DEFAULT_ALIAS && (await endpoints.get(type, name)) === null ? undefined : name;
    return named ?? (await endpoints.defaults())[type];
  };

  const chosenModel = async (type: 'llm' | 'vlm', name: string | undefined) => {
    const chosen = await chosenName(type, name);
    if (chosen === undefined)
      throw new AppError('MODEL_ENDPOINT_NOT_FOUND', `No ${KINDS[type]} is registered as the default.`);
    const endpoint = await record(type, chosen);
    return { endpoint, window: wantedContext(endpoint) ?? contextTokens };
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
      // Only a partition of an earlier release asks so: an alias would follow the default, and its vectors would not.
      if (name === DEFAULT_ALIAS && (await endpoints.get('embedder', name)) === null)
        throw new AppError('DEFAULT_EMBEDDER_MIGRATION_REQUIRED');
      const endpoint = await record('embedder', name);
      return build(endpoint, (builder) => builder.embedder(endpoint));
    },
    async languageModel(name) {
      const { endpoint, window } = await chosenModel('llm', name);
      return build(endpoint, (builder) => builder.languageModel(endpoint, window));
    },
    async visionModel(name) {
      const { endpoint, window } = await chosenModel('vlm', name);
      return build(endpoint, (builder) => builder.visionModel(endpoint, window));
    },
    async reranker(name) {
      const chosen = await chosenName('reranker', name);
      if (chosen === undefined) return null;
      const endpoint = await record('reranker', chosen);
      return build(endpoint, (builder) => builder.reranker(endpoint));
    },
    async transcriber(name) {
      const chosen = await chosenName('stt', name);
      if (chosen === undefined) return null;
      const endpoint = await record('stt', chosen);
      return build(endpoint, (builder) => builder.transcriber(endpoint));
    },
    async check(type, name, signal) {
      const endpoint = await record(type, name);
      await build(endpoint, async (builder) => ((await builder.check(endpoint, signal)) ? true : null));
    },
  };
}
