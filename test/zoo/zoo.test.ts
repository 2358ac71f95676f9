import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { findLibreOffice } from '../../activities/documents/parsing/formats/libreoffice.js';
import { startTestParser } from '../support/documents/parse-file.js';
import type { TestParser } from '../support/documents/parse-file.js';
import { ZOO } from './all-specimens.js';
import { complaint, readSpecimen } from './read-specimen.js';

let parser: TestParser;
beforeAll(async () => {
  parser = await startTestParser({ timeoutMs: 110_000, ocrLanguages: ['eng'] });
});
afterAll(async () => {
  expect(await parser.leftovers()).toEqual([]);
  await parser.close();
});

describe('the zoo', () => {
  it('has at least ninety files, each of its own name', () => {
    expect(new Set(ZOO.map(({ name }) => name)).size).toBe(ZOO.length);
    expect(ZOO.length).toBeGreaterThanOrEqual(90);
  });

  const withoutOffice = findLibreOffice() === null;
  for (const specimen of ZOO) {
    if (specimen.huge === true) continue;
    const skipped = specimen.libreOffice === true && withoutOffice;
    (skipped ? it.skip : it)(
      specimen.name,
      async () => {
        const bytes = Buffer.from(await specimen.bytes());
        expect(complaint(specimen, await readSpecimen(parser, specimen.name, bytes))).toBeNull();
      },
      120_000,
    );
  }
});
