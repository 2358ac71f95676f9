import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '../../../../support/until.js';
import { writePdf } from '../../../../support/documents/write-pdf.js';
import { startTestParser } from '../../../../support/documents/parse-file.js';
import type { TestParser } from '../../../../support/documents/parse-file.js';
import { declaringPng } from '../../../../support/documents/sample-picture.js';
import { decodePng, scanPng, writeBmp, writeTiff } from '../../../../support/documents/sample-scan.js';
import type { Scan } from '../../../../support/documents/sample-scan.js';

const LINES = [
  { text: 'The quick sieve sorts barley', size: 24 },
  { text: 'Number 4711 of the mill', size: 24 },
];
const LIMITS = { ocrLanguages: ['eng'] };

let parser: TestParser;
let png: Buffer;
let scan: Scan;

beforeAll(async () => {
  parser = await startTestParser();
  png = await scanPng(LINES);
  scan = decodePng(png);
}, 60_000);

afterAll(() => parser.close());

describe('pictures', () => {
  it.each(['png', 'bmp', 'tiff'] as const)(
    'reads the text of a %s by OCR',
    async (kind) => {
      const bytes = { png: () => png, bmp: () => writeBmp(scan), tiff: () => writeTiff(scan) }[kind]();
      const { text, report } = await parser.parse(kind, bytes, { limits: LIMITS });
      expect(text).toMatch(/quick sieve sorts barley\s+Number 4711 of the mill/);
      expect(report).toMatchObject({
        parser: expect.stringMatching(/^tesseract/),
        pages_by_ocr: 1,
        degraded: false,
      });
      expect(report?.ocr_confidence).toBeGreaterThan(0.7);
      expect(report?.ocr_confidence).toBeLessThanOrEqual(1);
    },
    60_000,
  );

  it('has it described behind its text, where a model describes pictures', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'tamis-described-'));
    try {
      const more = { limits: LIMITS, pictures: { directory: join(directory, 'pictures') } };
      const { chunks, pictures } = await parser.parse('png', png, more);
      expect(pictures).toEqual({ kept: 1, leftOut: 0 });
      expect(chunks.map(({ text, picture }) => picture ?? text)).toEqual([
        expect.stringContaining('4711'),
        0,
      ]);
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  }, 60_000);

  it('reads the first picture of a file of several, and says so', async () => {
    const { text, report } = await parser.parse('tiff', writeTiff(scan, 3), { limits: LIMITS });
    expect(text).toContain('4711');
    expect(report).toMatchObject({
      degraded: true,
      reasons: ["Only the first of the file's 3 pictures was read."],
    });
  }, 60_000);

  it('refuses more pixels and more bytes than are allowed', async () => {
    await expect(parser.parse('png', declaringPng(20_000, 20_000), { limits: LIMITS })).rejects.toMatchObject(
      {
        code: 'FILE_TOO_COMPLEX',
        message: expect.stringContaining('pixels'),
        details: { limit: 'maxPixels', found: 400_000_000 },
      },
    );
    await expect(
      parser.parse('png', png, { limits: { ...LIMITS, maxImageBytes: 1000 } }),
    ).rejects.toMatchObject({ code: 'FILE_TOO_COMPLEX', details: { limit: 'maxImageBytes', max: 1000 } });
  }, 60_000);

  it('refuses a damaged picture, and reads the next', async () => {
    const damaged = Buffer.concat([png.subarray(0, 60), Buffer.alloc(500, 7)]);
    await expect(parser.parse('png', damaged, { limits: LIMITS })).rejects.toMatchObject({
      code: 'FILE_CORRUPT',
    });
    expect((await parser.parse('png', png, { limits: LIMITS })).text).toContain('4711');
  }, 60_000);

  it('says when OCR is off, or has no data of a language', async () => {
    await expect(parser.parse('png', png, { limits: { ocrLanguages: [] } })).rejects.toMatchObject({
      code: 'UNSUPPORTED_CONTENT',
      message: expect.stringContaining('OCR is off'),
    });
    await expect(parser.parse('png', png, { limits: { ocrLanguages: ['qqq'] } })).rejects.toMatchObject({
      code: 'UNSUPPORTED_CONTENT',
      message: expect.stringContaining("'qqq'"),
    });
  }, 60_000);

  it('is read by OCR in no document while OCR is off on the server', async () => {
    const off = await startTestParser({ ocrLanguages: [] });
    await expect(off.parse('png', png, { limits: LIMITS })).rejects.toMatchObject({
      code: 'UNSUPPORTED_CONTENT',
      message: expect.stringContaining('OCR is off'),
    });
    await off.close();
  }, 60_000);

  it('ends within five seconds of a cancel', async () => {
    const cancel = new AbortController();
    const large = await scanPng(
      Array.from({ length: 40 }, (_, i) => ({ text: `Line ${i} of a long page about sieves`, size: 12 })),
      300,
    );
    const ended = parser
      .parse('png', large, { limits: { ocrLanguages: ['deu', 'fra'] }, signal: cancel.signal })
      .catch((error: unknown) => error);
    // Present while OCR starts.
    await until('OCR starts', async () => (await parser.leftovers()).some((name) => name.startsWith('ocr-')));
    const begun = Date.now();
    cancel.abort(new Error('not wanted any more'));
    expect(await ended).toMatchObject({ message: 'not wanted any more' });
    expect(Date.now() - begun).toBeLessThan(5000);
  }, 60_000);
});

describe('scanned pages of a PDF', () => {
  const page = (number: number) => ({ ...scan, page: number, x: 0, y: 0, side: 595, rise: 842 });

  it('reads a page that is only a picture, and leaves the others as they are', async () => {
    const pdf = writePdf([[{ text: 'This page has words of its own' }], []], { pictures: [page(1)] });
    const { chunks, report } = await parser.parse('pdf', pdf, { limits: LIMITS });
    const text = chunks.map((chunk) => chunk.text).join('\n');
    expect(text).toMatch(/words of its own[^]*quick sieve sorts barley\s+Number 4711/);
    expect(report).toMatchObject({ pages: 2, pages_without_text: 0, pages_by_ocr: 1, degraded: false });
  }, 60_000);

  it('goes on with the language that the first pages are in', async () => {
    const german = [
      'Die Mühle ist alt und steht an dem Fluss.',
      'Das Rad wird von dem Wasser bewegt und',
      'der Müller hat es nicht mehr bei sich.',
    ];
    const image = decodePng(
      await scanPng(
        german.map((text) => ({ text, size: 22 })),
        100,
      ),
    );
    const pages = [0, 1, 2].map((number) => ({ ...image, page: number, x: 0, y: 0, side: 595, rise: 842 }));
    const pdf = writePdf([[], [], []], { pictures: pages });
    const limits = { ocrLanguages: ['eng', 'deu'] };
    const { chunks, report } = await parser.parse('pdf', pdf, { limits });
    const third = chunks.filter((chunk) => chunk.page === 3).map((chunk) => chunk.text);
    expect(third.join(' ')).toContain('Die Mühle ist alt');
    expect(report?.warnings).toEqual([
      "OCR reads the pages behind page 2 as 'deu', by the words of those up to it.",
    ]);
  }, 60_000);

  it('reads no picture under a text of its own', async () => {
    const pdf = writePdf([[{ text: 'Hidden text of somebody else’s OCR lies over this scan' }]], {
      pictures: [page(0)],
    });
    const { text, report } = await parser.parse('pdf', pdf, { limits: LIMITS });
    expect(text).not.toContain('4711');
    expect(report).toMatchObject({ pages_by_ocr: 0 });
  }, 60_000);

  it('stops at the limit of pages, and says so; reads none when OCR is off', async () => {
    const pdf = writePdf([[], [], []], { pictures: [page(0), page(1), page(2)] });
    const { report } = await parser.parse('pdf', pdf, { limits: { ...LIMITS, maxOcrPages: 1 } });
    expect(report).toMatchObject({
      pages_by_ocr: 1,
      pages_without_text: 2,
      degraded: true,
      reasons: expect.arrayContaining([expect.stringContaining('At most 1 scanned pages')]),
    });
    const off = await parser.parse('pdf', pdf, { limits: { ocrLanguages: [] } });
    expect(off).toMatchObject({ chunkCount: 0, report: { pages_by_ocr: 0, pages_without_text: 3 } });
  }, 60_000);
});
