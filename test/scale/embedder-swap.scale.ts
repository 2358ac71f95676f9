import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { cranfield } from '../bench/collection.js';
import { reducedVector } from '../bench/instant-model-server.js';
import { judgedCorpus } from '../support/campaign-corpus.js';
import { startScriptedModelServer } from '../support/model-server/scripted-model-server.js';
import type { ScriptedModelServer } from '../support/model-server/scripted-model-server.js';
import { openStack } from '../support/running-stack.js';
import type { RunningStack } from '../support/running-stack.js';
import { seededRandom } from '../support/seeded-random.js';
import { PARTITION, swapClient, swapUnderLoad } from '../support/swap-campaign.js';

const corpus = judgedCorpus(cranfield());
/** So that all three kills fall into the swap. */
const SLOW = { kind: 'delay', ms: 100 } as const;
const models = { windowWords: 10_000 };

let stack: RunningStack;
let good: ScriptedModelServer;
let bad: ScriptedModelServer;

beforeAll(async () => {
  const random = seededRandom(1);
  // The built-in embedder's vectors in a quarter of the numbers: like it, and a little worse.
  good = await startScriptedModelServer({ ...models, dimension: 256, vector: reducedVector });
  bad = await startScriptedModelServer({
    ...models,
    vector: (_text, dimension) => Array.from({ length: dimension }, () => random() - 0.5),
  });
  stack = await openStack();
  await Promise.all([stack.startGateway(), stack.startWorker()]);
  await corpus.fill(stack, PARTITION);
  for (const [name, { url }] of Object.entries({ good, bad })) await swapClient(stack).register(name, url);
}, 1_200_000);
afterAll(async () => {
  await stack?.close();
  await Promise.all([good?.close(), bad?.close()]);
}, 60_000);

describe('Cranfield moved to another embedder under searches, chats, uploads and deletions, with three kills', () => {
  it('stays where it is when the new one is bad', async () => {
    bad.always('embed', SLOW);
    const report = await swapUnderLoad(stack, {
      corpus,
      target: 'bad',
      afterKills: () => bad.always('embed', null),
      kills: ['gateway', 'worker', 'gateway'],
      gate: { min_overlap: 0.1, min_known_item: 0.3 },
    });
    console.log(JSON.stringify(report, null, 2));
    expect(report.faults).toEqual([]);
    expect(report.kills).toHaveLength(3);
    expect(report.swap).toMatchObject({ status: 'failed', phase: 'measuring' });
    expect(report.answeredBy['bad']).toBeUndefined();
    expect(report.ndcg.after).toBe(report.ndcg.before);
  }, 1_800_000);

  it('goes by unnoticed', async () => {
    good.always('embed', SLOW);
    const report = await swapUnderLoad(stack, {
      corpus,
      target: 'good',
      afterKills: () => good.always('embed', null),
      kills: ['worker', 'gateway', 'worker'],
      gate: { min_known_item: 0.3 },
    });
    console.log(JSON.stringify(report, null, 2));
    expect(report.faults).toEqual([]);
    expect(report.kills).toHaveLength(3);
    expect(report.swap.status).toBe('completed');
  }, 1_800_000);
});
