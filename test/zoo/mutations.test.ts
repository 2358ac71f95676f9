import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestParser } from '../support/documents/parse-file.js';
import type { TestParser } from '../support/documents/parse-file.js';
import { fuzzParser } from './fuzz-parser.js';

let parser: TestParser;
beforeAll(async () => {
  parser = await startTestParser({ timeoutMs: 30_000, ocrLanguages: [] });
});
afterAll(() => parser.close());

// 2,000 of them are read by `npm run test:scale -- zoo`.
describe('damaged files of the zoo', () => {
  it('are read as far as they go, or end with a code and a sentence', async () => {
    const { faults, outcomes } = await fuzzParser(parser, { count: 60, seed: 20_261_124 });
    expect(faults).toEqual([]);
    expect(outcomes['read']).toBeGreaterThan(10);
  }, 240_000);
});
