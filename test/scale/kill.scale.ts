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

describe('SIGKILL of worker and gateway, 12 times over 40 files', () => {
  it('loses, repeats and leaves nothing', async () => {
    const report = await runKillCampaign(stack, { files: 40, kills: 12 });
    console.log(JSON.stringify(report, null, 2));
    expect(report.faults).toEqual([]);
    expect(report.drifts).toEqual([]);
    expect(report.kills).toHaveLength(12);
    expect(report.kills.filter(({ hit }) => hit).length).toBeGreaterThanOrEqual(9);
    expect(report.retried).toBeGreaterThan(0);
    expect(report.looks).toBeGreaterThan(0);
  });
});

describe('SIGKILL in every stage of PATCH, move, copy, DELETE and cancel', () => {
  it('changes nothing of the end', async () => {
    const report = await runChangeCampaign(stack, { all: true });
    console.log(JSON.stringify(report, null, 2));
    expect(report.faults).toEqual([]);
    expect(report.drifts).toEqual([]);
    expect(report.kills.filter(({ hit }) => hit).length).toBeGreaterThanOrEqual(report.kills.length - 3);
  });
});
