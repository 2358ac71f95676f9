import { Agent } from 'undici';
import { builtinModels, createModelRegistry } from '../../../activities/models/model-registry.js';
import { createEndpointModels } from '../../../activities/models/endpoint-models.js';
import { createOnnxModels } from '../../../activities/models/onnx/onnx-models.js';
import { seedEndpoints } from '../../../activities/models/seeds/seed-endpoints.js';
import type { Meter } from '../../../activities/ports/meter.js';
import type { ModelEndpointStore, ModelRegistry } from '../../../activities/ports/models.js';
import { createEncryption } from '../../../activities/stores/mongo/encryption.js';
import { parseConfig } from '../../../schemas/config/config.js';
import { discoverOllama } from '../../../activities/models/servers/discover-ollama.js';
import { createFakeModelEndpointStore } from '../fakes/models/fake-model-endpoint-store.js';

export interface OpenedModels {
  registry: ModelRegistry;
  endpoints: ModelEndpointStore;
  /** Vector fields that were made sure of. */
  fields: { vectorField: string; dimension: number }[];
  close(): Promise<void>;
}

/** The models of a configuration, as `connect` makes them, over a table of endpoints in memory. */
export async function openModels(
  environment: Record<string, string>,
  options: {
    endpoints?: ModelEndpointStore;
    meter?: Meter;
    /** Of models without a server. */
    onnx?: Pick<Parameters<typeof createOnnxModels>[0], 'idleMs' | 'graceMs'>;
  } = {},
): Promise<OpenedModels> {
  const config = parseConfig(environment);
  const endpoints = options.endpoints ?? createFakeModelEndpointStore();
  const dispatcher = new Agent();
  const onnx = createOnnxModels({ folder: config.models.modelsDirectory, ...options.onnx });
  const keys =
    config.secretsKey === null ? null : createEncryption(Buffer.from(config.secretsKey, 'base64'), []);
  await seedEndpoints({
    endpoints,
    models: config.models,
    keys,
    discover: (url) => discoverOllama(dispatcher, url, { timeoutMs: 2000 }),
  });
  const fields: OpenedModels['fields'] = [];
  const chunks = { ensureSchema: async (added: OpenedModels['fields']) => void fields.push(...added) };
  return {
    endpoints,
    fields,
    registry: createModelRegistry({
      endpoints,
      builders: [
        builtinModels,
        createEndpointModels({
          dispatcher,
          onnx,
          endpoints,
          chunks: chunks,
          keys,
          settings: config.models,
          ...(options.meter === undefined ? {} : { meter: options.meter }),
        }),
      ],
      contextTokens: config.chat.contextTokens,
    }),
    close: async () => void (await Promise.all([dispatcher.destroy(), onnx.close()])),
  };
}

/** Variables that point both models at one server. */
export function modelEnvironment(
  server: { url: string; models: { embedder: string; llm: string } },
  provider?: 'ollama' | 'openai',
): Record<string, string> {
  return {
    EMBEDDER_BASE_URL: server.url,
    EMBEDDER_MODEL_NAME: server.models.embedder,
    BASE_URL: server.url,
    MODEL: server.models.llm,
    ...(provider !== undefined && { EMBEDDER_PROVIDER: provider, LLM_PROVIDER: provider }),
  };
}
