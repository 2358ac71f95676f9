import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openStreamStage } from '../support/open-stream-stage.js';
import { runStreamCampaign } from '../support/stream-campaign.js';

let stage: Awaited<ReturnType<typeof openStreamStage>>;
beforeAll(async () => {
  stage = await openStreamStage();
}, 180_000);
afterAll(() => stage?.close(), 60_000);

describe('60 streams, half of them given up at random', () => {
  it('are whole where they are read, and leave nothing behind where they are not', async () => {
    const { faults, completed, left, liveMb } = await runStreamCampaign(stage.stack, stage.models, {
      streams: 60,
      clients: 12,
      inspectorPort: stage.inspectorPort,
    });
    expect(faults).toEqual([]);
    expect(completed).toBeGreaterThanOrEqual(30);
    expect(left).toBeGreaterThan(5);
    expect(liveMb.late - liveMb.early).toBeLessThan(20);
    // Node takes more than ten listeners of one answer for a leak, and writes so for each stream.
    expect(stage.stack.logs()).not.toContain('MaxListenersExceededWarning');
  }, 180_000);
});
