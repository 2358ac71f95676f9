import { openStack } from '../support/running-stack.js';
import type { RunningStack } from '../support/running-stack.js';

/**
 * A stack that sweeps as often as a delivered one does, where tests sweep every two seconds, and runs a model on this
 * machine with as many threads.
 */
export function openBenchStack(overrides: Record<string, string> = {}): Promise<RunningStack> {
  const { EMBEDDER_NUM_THREAD: threads } = process.env;
  return openStack({
    SWEEP_INTERVAL_SECONDS: '30',
    SWEEP_GRACE_SECONDS: '10',
    ...(threads !== undefined && { EMBEDDER_NUM_THREAD: threads }),
    ...overrides,
  });
}

/** The same with a model server that answers at once as its embedder, named `default`: no model takes of the cores. */
export function openInstantStack(
  models: { url: string },
  overrides: Record<string, string> = {},
): Promise<RunningStack> {
  return openBenchStack({
    EMBEDDER_PROVIDER: 'openai',
    EMBEDDER_BASE_URL: models.url,
    EMBEDDER_MODEL_NAME: 'embed',
    OLLAMA_HOST: '',
    ...overrides,
  });
}
