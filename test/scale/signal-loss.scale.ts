import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { runLossCampaign } from '../support/loss-campaign.js';
import { openLossStage } from '../support/open-loss-stage.js';

let stage: Awaited<ReturnType<typeof openLossStage>>;

beforeAll(async () => {
  stage = await openLossStage();
});
afterAll(() => stage?.close());

describe('20,000 signals of 50 watchers while everything fails at random', () => {
  it('arrive, once each, in order, and nothing is marked that CAPI does not have', async () => {
    const report = await runLossCampaign({
      ...stage,
      watchers: 50,
      signals: 20_000,
      events: 60,
      seed: 20_261_121,
    });
    process.stdout.write(`${JSON.stringify(report)}\n`);
    expect(report.faults).toEqual([]);
    expect(report.pushed).toBe(20_000);
    expect(report.arrived).toBe(report.pushed - report.filtered);
    // All of it did happen while signals were pushed.
    for (const kind of ['CAPI:', 'CAPI refuses', 'the worker', 'the gateway', 'Temporal', 'MongoDB'])
      expect(report.events.some((event) => event.startsWith(kind))).toBe(true);
    expect(report.slowestMs).toBeLessThan(2_000);
  });
});
