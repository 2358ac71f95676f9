import { join } from 'node:path';
import { ollamaUrl } from '../../../schemas/config/ollama-url.js';

/** How a server of ours runs on a folder with models: on loopback, touching nothing of the user's own Ollama. */
export function ollamaEnvironment(folder: string, port: number): Record<string, string> {
  return {
    OLLAMA_HOST: `127.0.0.1:${port}`,
    OLLAMA_MODELS: join(folder, 'models'),
    // its key pair and history
    HOME: join(folder, 'home'),
    OLLAMA_MAX_LOADED_MODELS: '3',
    OLLAMA_NO_CLOUD: '1',
    // several clones share the folder: none may tidy it up
    OLLAMA_NOPRUNE: '1',
  };
}

export async function ollamaAnswers(address: string): Promise<boolean> {
  const response = await fetch(new URL('/api/version', ollamaUrl(address) ?? address), {
    signal: AbortSignal.timeout(3000),
  });
  await response.arrayBuffer();
  return response.ok;
}
