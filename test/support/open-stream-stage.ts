import { openInstantModelServer } from '../bench/instant-model-server.js';
import type { InstantModelServer } from '../bench/instant-model-server.js';
import { freePort } from './free-port.js';
import { inspectable } from './inspector.js';
import { openStack } from './running-stack.js';
import type { RunningStack } from './running-stack.js';

/** A gateway whose language model answers at once, a word at a time. */
export async function openStreamStage(): Promise<{
  stack: RunningStack;
  models: InstantModelServer;
  inspectorPort: number;
  close(): Promise<void>;
}> {
  const models = await openInstantModelServer();
  models.pauseBetweenWords(1);
  const llm = { LLM_PROVIDER: 'openai', BASE_URL: models.url, MODEL: 'chat', OLLAMA_HOST: '' };
  const inspectorPort = await freePort();
  const stack = await openStack({ ...llm, LLM_SEMAPHORE: '20', ...inspectable(inspectorPort) });
  await stack.startGateway();
  return {
    stack,
    models,
    inspectorPort,
    async close() {
      await stack.close();
      await models.close();
    },
  };
}
