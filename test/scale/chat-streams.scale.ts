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
    const options = { streams: 1000, clients: 24, inspectorPort: stage.inspectorPort };
    const { faults, completed, left, liveMb } = await runStreamCampaign(stage.stack, stage.models, options);
    console.log(JSON.stringify({ completed, left, liveMb }));
    expect(faults).toEqual([]);
    expect(completed).toBeGreaterThanOrEqual(500);
    expect(left).toBeGreaterThan(100);
    // Prompt and answer of a stream are 30 kB and more: 1,000 of them would be 30 MB.
    expect(liveMb.late - liveMb.early).toBeLessThan(10);
  });
});
