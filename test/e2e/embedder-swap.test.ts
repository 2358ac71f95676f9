import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { reducedVector } from '../bench/instant-model-server.js';
import { generatedCorpus } from '../support/campaign-corpus.js';
import { startScriptedModelServer } from '../support/model-server/scripted-model-server.js';
import type { ScriptedModelServer } from '../support/model-server/scripted-model-server.js';
import { openStack } from '../support/running-stack.js';
import type { RunningStack } from '../support/running-stack.js';
import { seededRandom } from '../support/seeded-random.js';
import { until } from '../support/until.js';
import { PARTITION, swapClient, swapUnderLoad } from '../support/swap-campaign.js';

const corpus = generatedCorpus({ files: 12, paragraphs: 16 });

let stack: RunningStack;
let good: ScriptedModelServer;
let bad: ScriptedModelServer;

beforeAll(async () => {
  const random = seededRandom(1);
  good = await startScriptedModelServer({ dimension: 256, vector: reducedVector });
  bad = await startScriptedModelServer({
    vector: (_text, dimension) => Array.from({ length: dimension }, () => random() - 0.5),
  });
  stack = await openStack();
  await Promise.all([stack.startGateway(), stack.startWorker()]);
  await corpus.fill(stack, PARTITION);
}, 240_000);
afterAll(async () => {
  await stack?.close();
  await Promise.all([good.close(), bad.close()]);
}, 60_000);

describe('a partition that is moved to another embedder', () => {
  it('stays where it is when the new one is bad', async () => {
    const client = swapClient(stack);
    await client.register('bad', bad.url);
    await client.start({ embedder: 'bad', min_overlap: 0.1, min_known_item: 0.3 });
    const swap = await client.ended();
    expect(swap).toMatchObject({
      status: 'failed',
      phase: 'measuring',
      error: expect.stringContaining('min_known_item'),
      files_done: 12,
      files_total: 12,
    });
    expect(swap.figures!.known_item_after).toBeLessThan(0.3);
    expect(swap.figures!.known_item_before).toBeGreaterThan(0.5);
    expect(await stack.adapters.partitions.get('mills')).toMatchObject({ embedder: 'builtin-hash' });
  }, 120_000);

  it('is searched, asked, written and moved at once, by a worker that is killed', async () => {
    await swapClient(stack).register('new', good.url);
    good.always('embed', { kind: 'delay', ms: 500 });
    const report = await swapUnderLoad(stack, {
      corpus,
      target: 'new',
      kills: ['worker'],
      gate: { min_known_item: 0.3 },
      afterKills: () => good.always('embed', null),
    });
    expect(report.faults).toEqual([]);
    expect(report.swap).toMatchObject({ status: 'completed', phase: 'done', error: null });
    expect(report.kills).toEqual(['worker']);
    expect(report.swap.files_done).toBe(report.swap.files_total);
    expect(report.answeredBy['builtin-hash']).toBeGreaterThan(5);
    expect(report.answeredBy['new']).toBeGreaterThan(3);
    expect(Math.min(report.changes, report.chats)).toBeGreaterThan(0);
  }, 300_000);

  it('goes back with all others of its embedder, which is free to go then', async () => {
    const client = swapClient(stack);
    const before = await client.latest();
    const wanted = { source: 'new', target: 'builtin-hash' };
    const started = await client.ask('POST', '/admin/embedder-swaps', wanted);
    expect(started).toEqual({ status: 202, body: { ...wanted, partitions: 1 } });
    await until('it has begun', async () => (await client.latest())?.swap_id !== before?.swap_id);
    expect(await client.ended()).toMatchObject({ status: 'completed', target_embedder: 'builtin-hash' });
    expect(await stack.adapters.partitions.get('mills')).toMatchObject({ embedder: 'builtin-hash' });
    expect((await client.ask('DELETE', '/model-endpoints/embedder/new')).status).toBe(204);
    expect((await client.ask<{ swaps: object[] }>('GET', '/admin/embedder-swaps')).body.swaps).toHaveLength(
      3,
    );
  }, 120_000);
});
