import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { runMixedCampaign } from '../support/mixed-campaign.js';
import { openStack } from '../support/running-stack.js';
import type { RunningStack } from '../support/running-stack.js';

let stack: RunningStack;
beforeAll(async () => {
  stack = await openStack({ RATE_LIMIT_ENABLED: 'false' });
  await Promise.all([stack.startGateway(), stack.startWorker()]);
}, 180_000);
afterAll(() => stack?.close(), 60_000);

describe('200 mixed operations at once on 20 files', () => {
  it.each(Array.from({ length: 20 }, (_, index) => index + 1))('seed %i', async (seed) => {
    expect(await runMixedCampaign(stack, { seed, operations: 200, files: 20 })).toEqual([]);
  });
});
