import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openInstantModelServer } from '../bench/instant-model-server.js';
import type { InstantModelServer } from '../bench/instant-model-server.js';
import { openStack } from '../support/running-stack.js';
import type { RunningStack } from '../support/running-stack.js';
import { runStreamCampaign } from '../support/stream-campaign.js';

let models: InstantModelServer;
let stack: RunningStack;
beforeAll(async () => {
  models = await openInstantModelServer({ wordPauseMs: 1 });
  const llm = { LLM_PROVIDER: 'openai', BASE_URL: models.url, MODEL: 'chat', OLLAMA_HOST: '' };
  stack = await openStack({ ...llm, LLM_SEMAPHORE: '20' });
  await stack.startGateway();
}, 180_000);
afterAll(async () => {
  await stack?.close();
  await models.close();
}, 60_000);

describe('60 streams, half of them given up at random', () => {
  it('are whole where they are read, and leave nothing behind where they are not', async () => {
    const { faults, completed, left } = await runStreamCampaign(stack, models, { streams: 60, clients: 12 });
    expect(faults).toEqual([]);
    expect(completed).toBeGreaterThanOrEqual(30);
    expect(left).toBeGreaterThan(5);
  }, 180_000);
});
