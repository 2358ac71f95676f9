import type { Dispatcher } from 'undici';
import { z } from 'zod';
import type { ModelProvider } from '../../../schemas/models/model-endpoints.js';
import { openExchange, readJson } from './model-exchange.js';
import { ProviderFailure } from './provider-failure.js';
import { ollamaAddress } from './server-address.js';

const VersionAnswer = z.object({ version: z.string() });

/**
 * Which dialect a server speaks: Ollama answers `/api/version`; a server without that path speaks the OpenAI
 * format.
 * @throws ProviderFailure when the server cannot be asked at all, so that nothing wrong is remembered
 */
export async function detectProvider(
  dispatcher: Dispatcher,
  options: { baseUrl: string; apiKey: string | null; timeoutMs: number },
  signal?: AbortSignal,
): Promise<ModelProvider> {
  const { base, headers } = ollamaAddress(options.baseUrl, options.apiKey);
  const { timeoutMs } = options;
  try {
    const answer = await openExchange({
      dispatcher,
      url: `${base}/api/version`,
      headers,
      signal,
      timeoutMs,
    });
    return VersionAnswer.safeParse(await readJson(answer)).success ? 'ollama' : 'openai';
  } catch (error) {
    const away: readonly string[] = ['connection', 'timeout', 'failed', 'rate-limited'];
    if (!(error instanceof ProviderFailure) || away.includes(error.kind)) throw error;
    return 'openai';
  }
}
