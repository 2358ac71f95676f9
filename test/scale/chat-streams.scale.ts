import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openStreamStage } from '../support/open-stream-stage.js';
import { runStreamCampaign } from '../support/stream-campaign.js';

let stage: Awaited<ReturnType<typeof openStreamStage>>;
beforeAll(async () => {
  stage = await openStreamStage();
}, 180_000);
afterAll(() => stage?.close(), 60_000);

describe('1,000 streams, half of them given up at random', () => {
  it('are whole where they are read, and leave nothing behind where they are not', async () => {
    const options = { streams: 1000, clients: 24 };
    const { faults, completed, left, memoryMb } = await runStreamCampaign(stage.stack, stage.models, options);
    console.log(JSON.stringify({ completed, left, memoryMb }));
    expect(faults).toEqual([]);
    expect(completed).toBeGreaterThanOrEqual(500);
    expect(left).toBeGreaterThan(100);
    // 900 streams that each kept their prompt would be more.
    expect(memoryMb.late - memoryMb.early).toBeLessThan(100);
  });
});
