import { describe, expect, it } from '@jest/globals';
import { evaluateWithKills } from '../support/evaluation-campaign.js';
import { openStack } from '../support/running-stack.js';

describe('an evaluation of 500 questions whose worker is killed three times', () => {
  it('comes to the same results and figures as an undisturbed one', async () => {
    const stack = await openStack();
    await Promise.all([stack.startGateway(), stack.startWorker()]);
    const report = await evaluateWithKills(stack, { files: 50, paragraphs: 10, questions: 500, kills: 3 });
    console.log(JSON.stringify(report, null, 2));
    await stack.close();
    expect(report.faults).toEqual([]);
    expect(report.kills).toBe(3);
  }, 3_600_000);
});
