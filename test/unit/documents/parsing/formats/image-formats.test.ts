import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '../../../../support/until.js';
import { writePdf } from '../../../../support/documents/write-pdf.js';
import { startTestParser } from '../../../../support/documents/parse-file.js';
import type { TestParser } from '../../../../support/documents/parse-file.js';
import { animatedPng } from '../../../../support/documents/animate-picture.js';
import { declaringPng } from '../../../../support/documents/sample-picture.js';
import {
  cropScan,
  decodePng,
  scanPng,
  writeBmp,
  writeTiff,
} from '../../../../support/documents/sample-scan.js';
import type { Scan } from '../../../../support/documents/sample-scan.js';

const LINES = [
  { text: 'The quick sieve sorts barley', size: 24 },
  { text: 'Number 4711 of the mill', size: 24 },
];
/** The lines above as a JPEG of a camera that was held on its side, without EXIF. */
const ON_ITS_SIDE = fileURLToPath(new URL('on-its-side.jpg', import.meta.url));
const LIMITS = { ocrLanguages: ['eng'] };

/** A JPEG with EXIF of one entry, which lies so many bytes behind the beginning at least. */
function withExif(
  jpeg: Buffer,
  { order, orientation, before }: { order: 'II' | 'MM'; orientation: number; before: number },
): Buffer {
  const little = order === 'II';
  const number = (value: number, bytes: 2 | 4): Buffer => {
    const written = Buffer.alloc(bytes);
    if (little) written.writeUIntLE(value, 0, bytes);
    else written.writeUIntBE(value, 0, bytes);
    return written;
  };
  const tiff = Buffer.concat([
    Buffer.from(order),
    number(42, 2),
    number(8, 4),
    number(1, 2),
    number(0x0112, 2),
    number(3, 2),
    number(1, 4),
    number(orientation, 2),
    number(0, 2),
    number(0, 4),
  ]);
  const segment = (marker: number, content: Buffer): Buffer => {
    const head = Buffer.from([0xff, marker, 0, 0]);
    head.writeUInt16BE(2 + content.length, 2);
    return Buffer.concat([head, content]);
  };
  return Buffer.concat([
    jpeg.subarray(0, 2),
    ...(before === 0 ? [] : [segment(0xe2, Buffer.alloc(before))]),
    segment(0xe1, Buffer.concat([Buffer.from('Exif\0\0'), tiff])),
    jpeg.subarray(2),
  ]);
}

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
      const bytes = { png: () => png, bmp: () => writeBmp(scan), tiff: () => writeTiff([scan]) }[kind]();
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

  it.each([
    ['least significant byte first', 'II', 0],
    ['most significant byte first', 'MM', 0],
    ['behind other segments', 'MM', 1_000],
  ] as const)(
    'reads a photo that is stored on its side, as its EXIF says, %s',
    async (_what, order, before) => {
      const jpeg = await readFile(ON_ITS_SIDE);
      const bytes = withExif(jpeg, { order, orientation: 6, before });
      const { text } = await parser.parse('jpeg', bytes, { limits: LIMITS });
      expect(text).toMatch(/quick sieve sorts barley\s+Number 4711 of the mill/);
    },
    60_000,
  );

  it.each(['no directory', 'a cut entry', 'orientation 9'])(
    'reads a photo with EXIF of no use as it is stored: %s',
    async (fault) => {
      const jpeg = await readFile(ON_ITS_SIDE);
      const bytes = withExif(jpeg, {
        order: 'II',
        orientation: fault === 'orientation 9' ? 9 : 6,
        before: 0,
      });
      if (fault === 'no directory') bytes.writeUInt32LE(0xffffffff, 16);
      if (fault === 'a cut entry') {
        bytes.writeUInt16LE(0xffff, 20);
        bytes.writeUInt16LE(0x0100, 22);
      }
      const { text } = await parser.parse('jpeg', bytes, { limits: LIMITS });
      expect(text).not.toContain('barley');
    },
    60_000,
  );

  it('reads the first picture of an animation, and says that there are more', async () => {
    const { text, report } = await parser.parse('png', animatedPng(png), { limits: LIMITS });
    expect(text).toMatch(/quick sieve sorts barley\s+Number 4711 of the mill/);
    expect(report?.reasons).toEqual(['Of the 2 pictures of an animation, the first is read.']);
  }, 60_000);

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

describe('a TIFF of several pages', () => {
  let wheel: Scan;
  beforeAll(async () => {
    const page = await scanPng([{ text: 'A wheel by the river', size: 24 }]);
    wheel = cropScan(decodePng(page), 0.15);
  });
  const top = (): Scan => cropScan(scan, 0.15);
  const lost = (): Scan => ({ ...top(), pixels: Buffer.alloc(0) });

  it('has the text of each with its number', async () => {
    const progress: unknown[] = [];
    const { chunks, report } = await parser.parse('tiff', writeTiff([top(), wheel, top()]), {
      limits: LIMITS,
      onProgress: (seen) => progress.push(seen),
    });
    const words = (number: number): string =>
      chunks.flatMap(({ page, text }) => (page === number ? text : [])).join(' ');
    expect([1, 2, 3].map((number) => /barley|wheel/.exec(words(number))?.[0])).toEqual([
      'barley',
      'wheel',
      'barley',
    ]);
    expect(report).toMatchObject({
      pages: 3,
      pages_without_text: 0,
      pages_by_ocr: 3,
      degraded: false,
      warnings: [],
    });
  }, 60_000);

  it('is read without the pages that are damaged or too large, and says which', async () => {
    const bytes = writeTiff([lost(), top(), scan, wheel]);
    const { text, report } = await parser.parse('tiff', bytes, {
      limits: { ...LIMITS, maxPixels: top().width * top().height },
    });
    expect(text).toMatch(/barley[^]*wheel/);
    expect(report).toMatchObject({
      pages: 4,
      pages_by_ocr: 2,
      pages_without_text: 2,
      degraded: true,
      reasons: [
        '1 of 4 pages have more pixels than are allowed and were left out: 3.',
        '1 of 4 pages are damaged and were left out: 1.',
      ],
    });
  }, 60_000);

  it('is refused where no page can be read', async () => {
    await expect(parser.parse('tiff', writeTiff([lost(), lost()]), { limits: LIMITS })).rejects.toMatchObject(
      { code: 'FILE_CORRUPT' },
    );
    const small = { ...LIMITS, maxPixels: 1000 };
    await expect(parser.parse('tiff', writeTiff([top(), top()]), { limits: small })).rejects.toMatchObject({
      code: 'FILE_TOO_COMPLEX',
      details: { limit: 'maxPixels', max: 1000 },
    });
  }, 60_000);

  it('has at most so many pages in all, and by OCR', async () => {
    const bytes = writeTiff([wheel, wheel, wheel]);
    const { report } = await parser.parse('tiff', bytes, { limits: { ...LIMITS, maxOcrPages: 2 } });
    expect(report).toMatchObject({
      pages: 3,
      pages_by_ocr: 2,
      reasons: ['1 of 3 pages were left out: at most 2 pages of a file are read by OCR.'],
    });
    await expect(parser.parse('tiff', bytes, { limits: { ...LIMITS, maxPages: 2 } })).rejects.toMatchObject({
      code: 'FILE_TOO_COMPLEX',
      details: { limit: 'maxPages', max: 2 },
    });
  }, 60_000);

  it('has no page in a smaller copy of another', async () => {
    const bytes = writeTiff([wheel, top(), top()]);
    // The first tag of its directory says that it is a copy (an odd number), in place of its width.
    const directory = bytes.readUInt32LE(4);
    bytes.writeUInt16LE(254, directory + 2);
    bytes.writeUInt32LE(1, directory + 10);
    const { text, report } = await parser.parse('tiff', bytes, { limits: LIMITS });
    expect(text).not.toContain('wheel');
    expect(report).toMatchObject({ pages: 2, pages_by_ocr: 2, degraded: false });
  }, 60_000);

  it('says where its list of pages leads out of the file', async () => {
    const bytes = writeTiff([wheel, top()]);
    bytes.writeUInt32LE(bytes.length + 100, bytes.length - 4);
    const { report } = await parser.parse('tiff', bytes, { limits: LIMITS });
    expect(report).toMatchObject({ pages: 2, degraded: true });
    expect(report!.reasons).toEqual([expect.stringContaining('damaged behind page 2')]);
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

  it('reads a page whose only text is a line at its edge, and keeps that line', async () => {
    const stamp = 'DocuSign Envelope ID: 1A2B3C4D-5E6F-7A8B-9C0D-1E2F3A4B5C6D';
    const pdf = writePdf([[{ text: stamp, size: 8, y: 820 }]], { pictures: [page(0)] });
    const { text, report } = await parser.parse('pdf', pdf, { limits: LIMITS });
    expect(text).toMatch(/DocuSign[^]*quick sieve sorts barley\s+Number 4711/);
    expect(report).toMatchObject({ pages_by_ocr: 1, degraded: false });
    const off = await parser.parse('pdf', pdf, { limits: { ocrLanguages: [] } });
    expect(off.report).toMatchObject({ degraded: true, reasons: [expect.stringContaining('OCR is off')] });
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
