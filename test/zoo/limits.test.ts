import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { FileKind } from '../../activities/documents/parsing/file-types.js';
import { defaultParseLimits } from '../../activities/documents/parsing/parse-limits.js';
import type { ParseLimits } from '../../activities/documents/parsing/parse-limits.js';
import type { ErrorCode } from '../../schemas/error-table.js';
import { startTestParser } from '../support/documents/parse-file.js';
import type { TestParser } from '../support/documents/parse-file.js';
import { declaringPng } from '../support/documents/sample-picture.js';
import { samplePages } from '../support/documents/sample-pages.js';
import { writeDocx } from '../support/documents/write-docx.js';
import { writePdf } from '../support/documents/write-pdf.js';
import { writeZip } from '../support/documents/write-zip.js';

type Limit = Exclude<keyof ParseLimits, 'memoryMb'>;

interface Row {
  kind: FileKind;
  bytes: () => Buffer | string;
  limits: Partial<Omit<ParseLimits, 'memoryMb'>>;
  code: ErrorCode;
  /** What a person can do. */
  advice: RegExp;
}

const TOO_COMPLEX = 'FILE_TOO_COMPLEX';
const INNER = writeZip([{ name: 'a.txt', content: 'words' }]);
const WORDS = 'The mill grinds rye. '.repeat(1000);

/** Each limit, tightened so that a small file is beyond it; those without a row follow below. */
const TABLE: Record<Exclude<Limit, 'maxOcrPages' | 'ocrLanguages' | 'maxExpansionRatio'>, Row> = {
  timeoutMs: {
    kind: 'pdf',
    bytes: () => writePdf(samplePages(400)),
    limits: { timeoutMs: 1 },
    code: 'PARSE_TIMEOUT',
    advice: /split it into several files/,
  },
  maxPages: {
    kind: 'pdf',
    bytes: () => writePdf(samplePages(3)),
    limits: { maxPages: 2 },
    code: TOO_COMPLEX,
    advice: /split it into several files/i,
  },
  maxExpandedBytes: {
    kind: 'zip',
    bytes: () => writeZip([{ name: 'a.txt', content: WORDS }]),
    limits: { maxExpandedBytes: 1000 },
    code: TOO_COMPLEX,
    advice: /split it into several files/,
  },
  maxArchiveEntries: {
    kind: 'zip',
    bytes: () => writeZip(['a.txt', 'b.txt'].map((name) => ({ name, content: 'words' }))),
    limits: { maxArchiveEntries: 1 },
    code: TOO_COMPLEX,
    advice: /split it into several files/,
  },
  maxArchiveDepth: {
    kind: 'zip',
    bytes: () => writeZip([{ name: 'inner.zip', content: INNER }]),
    limits: { maxArchiveDepth: 1 },
    code: TOO_COMPLEX,
    advice: /unpack the inner ones first/,
  },
  maxMarkupBytes: {
    kind: 'docx',
    bytes: () => writeDocx([{ paragraph: WORDS }]),
    limits: { maxMarkupBytes: 1000 },
    code: TOO_COMPLEX,
    advice: /split it, or take large parts out/,
  },
  maxNesting: {
    kind: 'json',
    bytes: () => `${'['.repeat(20)}1${']'.repeat(20)}`,
    limits: { maxNesting: 10 },
    code: TOO_COMPLEX,
    advice: /flatten it, or save it as text/,
  },
  maxColumns: {
    kind: 'csv',
    bytes: () => 'a,b,c\n1,2,3\n',
    limits: { maxColumns: 2 },
    code: TOO_COMPLEX,
    advice: /split it into narrower tables/,
  },
  maxRows: {
    kind: 'csv',
    bytes: () => `a,b\n${'1,2\n'.repeat(20)}`,
    limits: { maxRows: 10 },
    code: TOO_COMPLEX,
    advice: /split it into several files/,
  },
  maxPixels: {
    kind: 'png',
    bytes: () => declaringPng(100, 100),
    limits: { maxPixels: 9999 },
    code: TOO_COMPLEX,
    advice: /scale it down/,
  },
  maxImageBytes: {
    kind: 'png',
    bytes: () => declaringPng(100, 100),
    limits: { maxImageBytes: 10 },
    code: TOO_COMPLEX,
    advice: /scale it down/,
  },
};

let parser: TestParser;
beforeAll(async () => {
  parser = await startTestParser({ ocrLanguages: ['eng'] });
});
afterAll(() => parser.close());

describe('a file beyond a limit ends with a code and what a person can do', () => {
  it.each(Object.entries(TABLE))('%s', async (_limit, { kind, bytes, limits, code, advice }) => {
    await expect(parser.parse(kind, bytes(), { limits })).rejects.toMatchObject({
      code,
      message: expect.stringMatching(advice),
      details: { limit: expect.any(String) },
    });
    // The parser is of use for what comes next.
    expect((await parser.parse('txt', 'The mill grinds rye.')).text).toContain('rye');
  });

  it('maxExpansionRatio', async () => {
    const bytes = writeZip([{ name: 'word/media/a.bin', content: Buffer.alloc(40 * 1024 * 1024) }]);
    await expect(parser.parse('docx', bytes, { limits: { maxExpansionRatio: 10 } })).rejects.toMatchObject({
      code: TOO_COMPLEX,
      message: expect.stringMatching(/take large parts out/),
    });
  });

  it('memoryMb', async () => {
    const small = await startTestParser({ memoryMb: 100 });
    try {
      await expect(small.parse('pdf', writePdf(samplePages(50)))).rejects.toMatchObject({
        code: TOO_COMPLEX,
        message: expect.stringMatching(/more memory than is allowed; split it into several files/),
      });
    } finally {
      await small.close();
    }
  });

  it('maxOcrPages and ocrLanguages leave text out or unread, and say so', async () => {
    const bytes = declaringPng(64, 48);
    await expect(parser.parse('png', bytes, { limits: { ocrLanguages: ['xyz'] } })).rejects.toMatchObject({
      code: 'UNSUPPORTED_CONTENT',
      message: expect.stringContaining("'xyz'"),
    });
    const pictures = writeZip(['a.png', 'b.png'].map((name) => ({ name, content: bytes })));
    const { text, report } = await parser.parse('zip', pictures, { limits: { maxOcrPages: 0 } });
    expect(text).toContain('At most 0 pictures of one document are read by OCR');
    expect(report?.degraded).toBe(true);
  });

  it('has a row for each', () => {
    const named = new Set([
      ...Object.keys(TABLE),
      'maxOcrPages',
      'ocrLanguages',
      'maxExpansionRatio',
      'memoryMb',
    ]);
    expect(Object.keys(defaultParseLimits).filter((name) => !named.has(name))).toEqual([]);
  });
});
