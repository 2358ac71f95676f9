import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { runChangeCampaign } from '../support/change-campaign.js';
import { runKillCampaign } from '../support/kill-campaign.js';
import { openStack } from '../support/running-stack.js';
import type { RunningStack } from '../support/running-stack.js';

let stack: RunningStack;

beforeAll(async () => {
  stack = await openStack();
  await Promise.all([stack.startGateway(), stack.startWorker()]);
}, 180_000);
afterAll(() => stack?.close(), 60_000);

describe('SIGKILL of worker and gateway', () => {
  it('loses, repeats and leaves nothing', async () => {
    const { faults, drifts, ...report } = await runKillCampaign(stack, { files: 10, kills: 4 });
    expect({ faults, drifts }).toEqual({ faults: [], drifts: [] });
    expect(report.kills).toHaveLength(4);
    // A campaign whose kills met nobody at work would show nothing.
    expect(report.kills.filter(({ hit }) => hit).length).toBeGreaterThanOrEqual(3);
    expect(report.retried).toBeGreaterThan(0);
    expect(report.looks).toBeGreaterThan(0);
  }, 400_000);

  it('in PATCH, copy, DELETE of file and partition, and cancel', async () => {
    const { faults, drifts, kills } = await runChangeCampaign(stack, { all: false });
    expect({ faults, drifts }).toEqual({ faults: [], drifts: [] });
    expect(kills).toHaveLength(5);
    expect(kills.filter(({ hit }) => hit).length).toBeGreaterThanOrEqual(3);
  }, 400_000);
});
