import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { generatedCorpus } from '../support/campaign-corpus.js';
import { STRAYS_COUNTED, migrateSchemaTwo, migrateUnderLoad } from '../support/migration-campaign.js';
import { openStack } from '../support/running-stack.js';
import type { RunningStack } from '../support/running-stack.js';

let stack: RunningStack;
beforeEach(async () => {
  stack = await openStack();
}, 60_000);
afterEach(() => stack?.close(), 60_000);

describe('the vector store, migrated by a worker that is killed', () => {
  it('from schema 2: dark before, and afterwards every answer is what it was', async () => {
    const { fill, questions } = generatedCorpus({ files: 20, paragraphs: 300 });
    const report = await migrateSchemaTwo(stack, {
      fill,
      questions,
      embedder: 'builtin-hash',
      kills: 1,
      pagesPerSecond: 0.5,
    });
    expect(report.faults).toEqual([]);
    expect(report.kills).toHaveLength(1);
    expect(report.run).toMatchObject({
      state: 'completed',
      figures: { ...STRAYS_COUNTED, chunks_without_vector: 0 },
    });
    expect(report.run.figures['chunks_verified']).toBe(report.chunks);
    expect(report.chunks).toBeGreaterThanOrEqual(1_000);
  }, 300_000);

  it('a step of the present schema: nothing goes dark, nothing is lost or doubled', async () => {
    const report = await migrateUnderLoad(stack, {
      corpus: generatedCorpus({ files: 10, paragraphs: 100 }),
      kills: ['worker'],
      pagesPerSecond: 0.5,
    });
    expect(report.faults).toEqual([]);
    expect(report.kills).toEqual(['worker']);
    expect(Math.min(report.chats, report.changes)).toBeGreaterThan(0);
    expect(report.run.state).toBe('completed');
    expect(report.searches).toBeGreaterThan(20);
  }, 300_000);
});
