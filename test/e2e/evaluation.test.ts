import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { evaluateWithKills } from '../support/evaluation-campaign.js';
import { openStack } from '../support/running-stack.js';
import type { RunningStack } from '../support/running-stack.js';

let stack: RunningStack;

beforeAll(async () => {
  stack = await openStack();
  await Promise.all([stack.startGateway(), stack.startWorker()]);
}, 120_000);
afterAll(() => stack?.close(), 60_000);

describe('an evaluation whose worker is killed', () => {
  it('comes to the same results and figures as an undisturbed one', async () => {
    const report = await evaluateWithKills(stack, { files: 8, paragraphs: 5, questions: 40, kills: 1 });
    expect(report.faults).toEqual([]);
    expect(report.kills).toBe(1);
    expect(report.summary!.measures.ndcg_10).toMatchObject({ count: 40 });
    expect(report.summary!.measures.recall_50!.mean).toBeGreaterThan(0.9);
  }, 300_000);
});
