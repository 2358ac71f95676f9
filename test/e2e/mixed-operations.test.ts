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

describe('60 mixed operations at once on 6 files', () => {
  it('end in a state that some order of them explains', async () => {
    expect(await runMixedCampaign(stack, { seed: 1, operations: 60, files: 6 })).toEqual([]);
  }, 240_000);
});
