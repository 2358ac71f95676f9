import { extname } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestParser } from '../support/documents/parse-file.js';
import type { TestParser } from '../support/documents/parse-file.js';
import { ZOO } from './all-specimens.js';
import { readSpecimen } from './read-specimen.js';
import { recallOf } from './recall.js';
import { REFERENCE_READERS } from './reference-readers.js';

/** Of the words that the reference reader finds (issue J, section 4.2). */
const LEAST = 0.97;

let parser: TestParser;
beforeAll(async () => {
  parser = await startTestParser({ timeoutMs: 60_000, ocrLanguages: [] });
});
afterAll(() => parser.close());

describe('recallOf', () => {
  it('counts words that are there in the order of their paragraph', () => {
    expect(recallOf('one two three\n\nfour five', 'FOUR five. one three two')).toEqual({
      words: 5,
      kept: 4,
      missing: [],
    });
    expect(recallOf('one two', 'two')).toEqual({ words: 2, kept: 1, missing: ['one'] });
  });
});

describe('the text of a file', () => {
  for (const { program, extensions, isInstalled, read } of REFERENCE_READERS)
    (isInstalled() ? it : it.skip)(
      `has what ${program} finds`,
      async () => {
        // Of damaged files each program keeps something else.
        const specimens = ZOO.filter(
          ({ name, expected, huge, ocr }) =>
            'finds' in expected &&
            huge !== true &&
            ocr !== true &&
            !name.startsWith('cut-off') &&
            extensions.includes(extname(name).slice(1)),
        );
        const files = await Promise.all(
          specimens.map(async ({ name, misread, bytes }) => ({
            name,
            misread,
            bytes: Buffer.from(await bytes()),
          })),
        );
        const references = await read(files);
        expect(references.size).toBeGreaterThan(0);
        const poor: string[] = [];
        const lines: string[] = [];
        for (const { name, misread, bytes } of files) {
          const reference = references.get(name);
          if (reference === undefined) continue;
          const outcome = await readSpecimen(parser, name, bytes);
          const { words, kept, missing } = recallOf(reference, 'text' in outcome ? outcome.text : '');
          if (words === 0) continue;
          const share = `${((kept / words) * 100).toFixed(1).padStart(5)} % of ${String(words).padStart(5)}`;
          const line = `${name.padEnd(36)} ${share}  ${missing.slice(0, 8).join(' ')}`.trimEnd();
          lines.push(line);
          if (misread !== true && kept < words * LEAST) poor.push(line);
        }
        process.stderr.write(`\nwords of ${program}\n${lines.join('\n')}\n`);
        expect(poor).toEqual([]);
      },
      180_000,
    );
});
