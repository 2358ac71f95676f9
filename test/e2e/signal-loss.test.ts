import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { runLossCampaign } from '../support/loss-campaign.js';
import { openLossStage } from '../support/open-loss-stage.js';

let stage: Awaited<ReturnType<typeof openLossStage>>;

beforeAll(async () => {
  stage = await openLossStage();
}, 180_000);
afterAll(() => stage?.close(), 60_000);

describe('2,000 signals while everything fails at random', () => {
  it('arrive, once each, in order, and nothing is marked that CAPI does not have', async () => {
    const report = await runLossCampaign({
      ...stage,
      watchers: 5,
      signals: 2_000,
      events: 6,
      seed: 20_261_121,
    });
    expect(report.faults).toEqual([]);
    expect(report.pushed).toBe(2_000);
    expect(report.arrived).toBe(report.pushed - report.filtered);
    // All of it did happen while signals were pushed.
    for (const kind of ['CAPI:', 'CAPI refuses', 'the worker', 'the gateway', 'Temporal', 'MongoDB'])
      expect(report.events.some((event) => event.startsWith(kind))).toBe(true);
    expect(report.slowestMs).toBeLessThan(2_000);
  }, 400_000);
});
