import type { Config } from '../../../schemas/config/config.js';
import type { ModelEndpoint, ModelType } from '../../../schemas/models/model-endpoints.js';
import type { ModelEndpointStore } from '../../ports/models.js';
import { BUILTIN_ENDPOINTS } from '../builtin/builtin-endpoints.js';
import type { DiscoveredModel } from '../servers/discover-ollama.js';
import { discoveredName, vectorFieldOf } from '../../../schemas/models/endpoint-names.js';
import { sealModelKey } from '../model-key.js';
import type { ModelKeyBox } from '../model-key.js';

/** The endpoint that the environment describes, one of each type. */
const CONFIGURED_NAME = 'default';

type SeededType = Extract<ModelType, 'embedder' | 'llm' | 'vlm' | 'reranker' | 'stt'>;

/** Texts that a reranker is given at once. */
const RERANKER_BATCH = 32;

export interface SeedOptions {
  endpoints: ModelEndpointStore;
  models: Config['models'];
  keys: ModelKeyBox | null;
  /** The models behind OLLAMA_HOST; rejects while it is away. */
  discover: (url: string) => Promise<DiscoveredModel[]>;
  now?: () => Date;
}

/**
 * Registers the model endpoints at the start of a process; any number of processes may do so at once. On the first
 * start of all it chooses the defaults: what the environment configures, else the first fitting model of OLLAMA_HOST,
 * else the built-in one. Afterwards the table wins (unless MODEL_ENDPOINT_SYNC_ON_BOOT), and what is found is only
 * added. A default that is built-in because OLLAMA_HOST was away is provisional: the first find replaces it.
 */
export async function seedEndpoints(options: SeedOptions): Promise<void> {
  const { endpoints, models, keys } = options;
  const at = (options.now ?? (() => new Date()))();

  const newEndpoint = (
    type: SeededType,
    given: Pick<ModelEndpoint, 'name' | 'endpoint' | 'model_name' | 'provider'> & Partial<ModelEndpoint>,
  ): ModelEndpoint => ({
    model_type: type,
    sealed_api_key: null,
    dimension: null,
    context_tokens: null,
    extra: {},
    batch_size: { embedder: models.embedderBatchSize, llm: 1, vlm: 1, stt: 1, reranker: RERANKER_BATCH }[
      type
    ],
    timeout: {
      embedder: models.embedderTimeoutSeconds,
      llm: models.llmTimeoutSeconds,
      vlm: models.llmTimeoutSeconds,
      reranker: models.rerankerTimeoutSeconds,
      stt: models.transcriberTimeoutSeconds,
    }[type],
    vector_field: type === 'embedder' ? vectorFieldOf(given.name, given.model_name) : null,
    text_form: null,
    probed_at: null,
    seeded: true,
    created_at: at,
    updated_at: at,
    ...given,
  });

  const configured = (type: SeededType): ModelEndpoint | null => {
    const given = models[type];
    if (given === null) return null;
    const place = { name: CONFIGURED_NAME, model_type: type, endpoint: given.baseUrl };
    return newEndpoint(type, {
      name: CONFIGURED_NAME,
      endpoint: given.baseUrl,
      model_name: given.modelName,
      provider: given.provider,
      // Where an administrator looks for it, and an edit of the address finds it again.
      extra: given.provider === null ? {} : { provider: given.provider },
      sealed_api_key: given.apiKey === null ? null : sealModelKey(keys, place, given.apiKey),
    });
  };

  /** What the server told stays while it is the same model in the same place. */
  const overwrite = async (wanted: ModelEndpoint): Promise<void> => {
    const present = await endpoints.get(wanted.model_type, wanted.name);
    const same =
      present?.endpoint === wanted.endpoint &&
      present.model_name === wanted.model_name &&
      (wanted.provider === null || wanted.provider === present.provider);
    if (present === null) await endpoints.seed(wanted);
    else
      await endpoints.save({
        ...wanted,
        created_at: present.created_at,
        ...(present.model_name === wanted.model_name && { vector_field: present.vector_field }),
        ...(same && {
          provider: present.provider,
          dimension: present.dimension,
          probed_at: present.probed_at,
          context_tokens: present.context_tokens,
          text_form: present.text_form,
        }),
      });
  };

  const discovered = async (): Promise<ModelEndpoint[] | null> => {
    const url = models.ollamaUrl;
    if (url === null || (models.embedder !== null && models.llm !== null)) return [];
    const found = await options.discover(url).catch(() => null);
    return found === null
      ? null
      : found.map(({ name: model, kind, context_tokens, text_form }) =>
          newEndpoint(kind, {
            name: discoveredName(model),
            endpoint: url,
            model_name: model,
            provider: 'ollama' as const,
            extra: { provider: 'ollama' },
            context_tokens,
            text_form: kind === 'embedder' ? text_form : null,
            // An embedder's dimension is measured when it is first needed: that loads the model.
            probed_at: kind === 'embedder' ? null : at,
          }),
        );
  };

  /** False when the environment says nothing of this type. */
  const seedConfigured = async (type: SeededType): Promise<boolean> => {
    const given = configured(type);
    if (given === null) return false;
    if (models.syncOnBoot) await overwrite(given);
    else await endpoints.seed(given);
    await endpoints.setDefaultIfUnset(type, given.name);
    if (models.syncOnBoot) await endpoints.setDefault(type, given.name);
    return true;
  };

  for (const endpoint of BUILTIN_ENDPOINTS) await endpoints.seed(endpoint);
  for (const type of ['vlm', 'reranker', 'stt'] as const) await seedConfigured(type);
  const found = await discovered();
  for (const builtin of BUILTIN_ENDPOINTS) {
    const type = builtin.model_type;
    if (await seedConfigured(type)) continue;
    const offered = (found ?? []).filter(({ model_type }) => model_type === type);
    for (const endpoint of offered) await endpoints.seed(endpoint);
    const first = offered[0]?.name;
    if (first === undefined)
      await endpoints.setDefaultIfUnset(type, builtin.name, { provisional: found === null });
    else {
      await endpoints.setDefaultIfUnset(type, first);
      await endpoints.confirmDefault(type, first);
    }
  }
}
