import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { ENGINES, cutOff, openCutStage } from '../support/cut-campaign.js';
import type { CutStage } from '../support/cut-campaign.js';
import { expectRow } from '../support/outage-rows.js';

let stage: CutStage;
beforeAll(async () => {
  stage = await openCutStage();
}, 180_000);
afterAll(() => stage?.close(), 60_000);

describe('an engine is away for five seconds, and everything is answered as docs/operations.md says', () => {
  it.each(ENGINES)(
    '%s',
    async (engine) => {
      expectRow(engine, await cutOff(stage, engine, 5_000));
    },
    300_000,
  );
});
