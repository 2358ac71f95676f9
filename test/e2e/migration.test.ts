import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { migrateSchemaTwo, migrateUnderLoad } from '../support/migration-campaign.js';
import { openStack } from '../support/running-stack.js';
import type { RunningStack } from '../support/running-stack.js';

let stack: RunningStack;
beforeEach(async () => {
  stack = await openStack();
}, 60_000);
afterEach(() => stack?.close(), 60_000);

describe('the vector store, migrated by a worker that is killed', () => {
  it('from schema 2: dark before, and afterwards every answer is what it was', async () => {
    const report = await migrateSchemaTwo(stack, {
      files: 20,
      paragraphs: 300,
      kills: 1,
      pagesPerSecond: 0.5,
    });
    expect(report.faults).toEqual([]);
    expect(report.kills).toBe(1);
    expect(report.run).toMatchObject({ state: 'completed', figures: { chunks_without_vector: 0 } });
    expect(report.run.figures['chunks_verified']).toBe(report.chunks);
    expect(report.chunks).toBeGreaterThanOrEqual(1_000);
  }, 300_000);

  it('a step of the present schema: nothing goes dark, nothing is lost or doubled', async () => {
    const report = await migrateUnderLoad(stack, {
      files: 10,
      paragraphs: 100,
      kills: 1,
      pagesPerSecond: 0.5,
    });
    expect(report.faults).toEqual([]);
    expect(report.kills).toBe(1);
    expect(report.run.state).toBe('completed');
    expect(report.searches).toBeGreaterThan(20);
  }, 300_000);
});
