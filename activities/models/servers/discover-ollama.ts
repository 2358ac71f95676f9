import type { Dispatcher } from 'undici';
import type { ModelType } from '../../../schemas/models/model-endpoints.js';
import type { ModelDescription } from './model-server.js';
import { createOllamaServer } from './ollama-server.js';

export interface DiscoveredModel extends ModelDescription {
  name: string;
  kind: Extract<ModelType, 'embedder' | 'llm'>;
}

/** Of a server with more models than this the rest must be registered by hand. */
const MAX_MODELS = 50;

/**
 * The models of an Ollama that embed or talk, in its own order (the newest first).
 * @throws ProviderFailure, or the signal's reason
 */
export async function discoverOllama(
  dispatcher: Dispatcher,
  baseUrl: string,
  options: { timeoutMs: number; signal?: AbortSignal },
): Promise<DiscoveredModel[]> {
  const { timeoutMs, signal } = options;
  const server = createOllamaServer(dispatcher, { baseUrl, apiKey: null, timeoutMs });
  const found: DiscoveredModel[] = [];
  for (const { name } of (await server.models(signal)).slice(0, MAX_MODELS)) {
    const { kind, ...description } = await server.describe(name, signal);
    if (kind !== null) found.push({ ...description, kind, name });
  }
  return found;
}
