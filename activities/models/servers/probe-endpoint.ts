import type { Dispatcher } from 'undici';
import type { ModelEndpoint, ModelProvider, ProbedFacts } from '../../../schemas/models/model-endpoints.js';
import { detectProvider } from './detect-provider.js';
import { embedderWindow } from '../endpoint-extra.js';
import type { ModelServer, ModelServerOptions } from './model-server.js';
import { createOllamaServer } from './ollama-server.js';
import { createOpenAiServer } from './openai-server.js';
import { ProviderFailure } from './provider-failure.js';

/** Any text will do: its vector is counted, not used. */
const PROBE_TEXT = 'dimension';

export function createModelServer(
  dispatcher: Dispatcher,
  provider: ModelProvider,
  options: ModelServerOptions,
): ModelServer {
  return provider === 'ollama'
    ? createOllamaServer(dispatcher, options)
    : createOpenAiServer(dispatcher, options);
}

/** Ollama answers in the OpenAI format as well, but describes its models in its own API alone. */
async function describingServer(
  dispatcher: Dispatcher,
  endpoint: Pick<ModelEndpoint, 'provider'>,
  options: ModelServerOptions,
): Promise<ModelServer> {
  return createModelServer(
    dispatcher,
    endpoint.provider === 'ollama' ? 'ollama' : await detectProvider(dispatcher, options),
    options,
  );
}

/**
 * Asks a server what its endpoint's record must know: the dialect unless it is given, the window, how texts must be
 * written, and the length of a vector, measured on one.
 * @throws ProviderFailure
 */
export async function probeEndpoint(
  dispatcher: Dispatcher,
  endpoint: Pick<ModelEndpoint, 'model_type' | 'model_name' | 'provider'>,
  options: ModelServerOptions & { maxModelLen: number | null; threads: number | null },
): Promise<ProbedFacts> {
  const { model_type: type, model_name: model } = endpoint;
  const describing = await describingServer(dispatcher, endpoint, options);
  const provider =
    endpoint.provider === 'ollama' || endpoint.provider === 'openai'
      ? endpoint.provider
      : describing.provider;
  const { context_tokens, text_form } = await describing.describe(model);
  if (type !== 'embedder') return { provider, context_tokens, text_form: null, dimension: null };
  const server = createModelServer(dispatcher, provider, options);
  const windowTokens = embedderWindow(context_tokens, provider, options.maxModelLen);
  const call = { model, texts: [PROBE_TEXT], windowTokens, threads: options.threads };
  const [vector] = await server.embed(call);
  if (vector === undefined || vector.length === 0)
    throw new ProviderFailure('bad-answer', `the model '${model}' gives no vectors`);
  return { provider, context_tokens, text_form, dimension: vector.length };
}
