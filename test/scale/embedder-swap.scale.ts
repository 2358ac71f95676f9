import { afterAll, describe, expect, it } from '@jest/globals';
import { startScriptedModelServer } from '../support/model-server/scripted-model-server.js';
import type { ScriptedModelServer } from '../support/model-server/scripted-model-server.js';
import { openStack } from '../support/running-stack.js';
import { PARTITION, swapClient, swapUnderLoad } from '../support/swap-campaign.js';
import { uploadTexts } from '../support/upload-texts.js';

let server: ScriptedModelServer;
afterAll(() => server?.close());

describe('an embedder swap under load, with three kills', () => {
  it('goes by unnoticed', async () => {
    server = await startScriptedModelServer({ dimension: 384 });
    const stack = await openStack();
    await Promise.all([stack.startGateway(), stack.startWorker()]);
    await uploadTexts(stack, PARTITION, { files: 100, paragraphs: 200 });
    await swapClient(stack).register('new', server.url);
    server.always('embed', { kind: 'delay', ms: 20 });
    // Without a gate: the scripted vectors hardly tell thousands of texts of the same twenty words apart.
    const report = await swapUnderLoad(stack, { target: 'new', kills: 3 });
    console.log(JSON.stringify(report, null, 2));
    await stack.close();
    expect(report.faults).toEqual([]);
    expect(report.kills).toBe(3);
    expect(report.swap.status).toBe('completed');
  }, 1_800_000);
});
