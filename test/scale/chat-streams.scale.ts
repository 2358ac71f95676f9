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

describe('1,000 streams, half of them given up at random', () => {
  it('are whole where they are read, and leave nothing behind where they are not', async () => {
    const options = { streams: 1000, clients: 24 };
    const { faults, completed, left, memoryMb } = await runStreamCampaign(stack, models, options);
    console.log(JSON.stringify({ completed, left, memoryMb }));
    expect(faults).toEqual([]);
    expect(completed).toBeGreaterThanOrEqual(500);
    expect(left).toBeGreaterThan(100);
    // 900 streams that each kept their prompt would be more.
    expect(memoryMb.late - memoryMb.early).toBeLessThan(100);
  });
});
