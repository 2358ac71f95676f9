import type { Dispatcher } from 'undici';
import { ONNX_ENDPOINT } from '../../schemas/models/model-endpoints.js';
import type { ModelServers } from '../ports/model-administration.js';
import type { ModelRegistry } from '../ports/models.js';
import type { OnnxModels } from './onnx/onnx-models.js';
import { inspectEndpoint } from './servers/inspect-endpoint.js';
import { openModelKey, sealModelKey } from './model-key.js';
import type { ModelKeyBox } from './model-key.js';

/** @param options.keys null without SECRETS_KEY */
export function createModelServers(options: {
  dispatcher: Dispatcher;
  onnx: Pick<OnnxModels, 'inspect'>;
  keys: ModelKeyBox | null;
  registry: Pick<ModelRegistry, 'embedder' | 'languageModel'>;
}): ModelServers {
  return {
    sealKey: (endpoint, key) => sealModelKey(options.keys, endpoint, key),
    openKey: (endpoint) => openModelKey(options.keys, endpoint),
    inspect: (draft, signal) =>
      draft.endpoint === ONNX_ENDPOINT
        ? options.onnx.inspect(draft, signal)
        : inspectEndpoint(options.dispatcher, draft, signal),
    async probe({ model_type: type, name }) {
      // Making the model asks whatever is not known yet.
      if (type === 'embedder') await options.registry.embedder(name);
      if (type === 'llm') await options.registry.languageModel(name);
    },
  };
}
