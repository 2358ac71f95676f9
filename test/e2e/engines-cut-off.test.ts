import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ENGINES, cutOff, openCutStage } from '../support/cut-campaign.js';
import type { CutStage } from '../support/cut-campaign.js';
import { documentClient } from '../support/document-client.js';
import { generatedText } from '../support/generated-text.js';
import { expectRow } from '../support/outage-rows.js';
import { sampleSignal } from '../support/signal-client.js';

let stage: CutStage;
beforeAll(async () => {
  stage = await openCutStage();
}, 180_000);
afterAll(() => stage?.close(), 60_000);

/** A request waits five seconds for MongoDB; one under way at the cut may do so twice, and the next one after it. */
const AWAY_MS = { mongodb: 17_000, other: 6_000 };

describe('an engine is away for a few seconds, and everything is answered as docs/operations.md says', () => {
  it.each(ENGINES)(
    '%s',
    async (engine) => {
      expectRow(engine, await cutOff(stage, engine, engine === 'mongodb' ? AWAY_MS.mongodb : AWAY_MS.other));
    },
    300_000,
  );
});

describe('gateway and worker that start while OpenSearch is away', () => {
  it('take signals, and index what is uploaded once it is back', async () => {
    const { stack, lines, lapi } = stage;
    await lines.opensearch.cut();
    await Promise.all([stack.stopGateway(), stack.stopWorker()]);
    await Promise.all([stack.startGateway(), stack.startWorker()]);
    expect((await lapi.push([sampleSignal(1)])).status).toBe(200);
    const client = documentClient(stack);
    const url = await client.upload('POST', 'late', 'first', generatedText(1, 20), 'first.txt');
    await lines.opensearch.restore();
    expect(await client.ended(url)).toMatchObject({ task_state: 'COMPLETED' });
  }, 180_000);
});
