import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openBytesParser } from '../../../support/documents/parse-bytes.js';
import type { BytesParser } from '../../../support/documents/parse-bytes.js';
import { samplePages } from '../../../support/documents/sample-pages.js';
import { writeDocx } from '../../../support/documents/write-docx.js';
import { writePdf } from '../../../support/documents/write-pdf.js';

let parser: BytesParser;
beforeAll(async () => {
  parser = await openBytesParser();
});
afterAll(() => parser.close());

async function reportOf(...[kind, bytes, more]: Parameters<BytesParser['parse']>) {
  return (await parser.parse(kind, bytes, more)).report!;
}

describe('the parse report', () => {
  it('tells parser, version, pages, tables, time and memory', async () => {
    const report = await reportOf('pdf', writePdf([...samplePages(4), []]));
    expect(report).toMatchObject({
      parser: 'liteparse',
      parser_version: expect.stringMatching(/^\d+\.\d+\.\d+$/) as unknown,
      pages: 5,
      pages_without_text: 1,
      tables: 4,
      pages_by_ocr: 0,
      ocr_confidence: null,
      degraded: false,
      reasons: [],
      warnings: [],
      encoding: null,
      pictures: null,
    });
    expect(report.characters).toBeGreaterThan(1000);
    // The running titles.
    expect(report.characters_dropped).toBeGreaterThan(50);
    expect(report.duration_ms).toBeGreaterThan(0);
    expect(report.peak_memory_mb).toBeGreaterThan(20);
  });

  it('tells the encoding that was found', async () => {
    const report = await reportOf('txt', Buffer.from('\ufeffLe tamis sépare', 'utf16le'));
    expect(report).toMatchObject({ parser: 'text', encoding: 'utf-16le', characters: 15, pages: null });
  });

  it('is degraded when the file is cut off', async () => {
    const good = writePdf(samplePages(3));
    const report = await reportOf('pdf', good.subarray(0, good.length / 2));
    expect(report).toMatchObject({ degraded: true, pages: 3 });
    expect(report.reasons).toEqual([
      expect.stringContaining('cut off') as unknown,
      expect.stringMatching(/1 of 3 pages are damaged/) as unknown,
    ]);
  });

  it('is degraded when most pages hold no text', async () => {
    const report = await reportOf('pdf', writePdf([...samplePages(1), [], []]));
    expect(report).toMatchObject({ degraded: true, pages: 3, pages_without_text: 2 });
    expect(report.reasons).toEqual(['2 of 3 pages hold no text that can be read.']);
  });

  it('is degraded when characters could not be decoded', async () => {
    const report = await reportOf('txt', `${'word '.repeat(20)}${'\ufffd'.repeat(20)}`);
    expect(report.reasons).toEqual([expect.stringContaining('could not be decoded') as unknown]);
  });

  it('is degraded when most of a page is furniture, and counts what little is', async () => {
    const menu = `<nav>${'<a href="/">an entry of the menu</a>'.repeat(300)}</nav>`;
    expect(await reportOf('html', `<body>${menu}<p>Little.</p></body>`)).toMatchObject({ degraded: true });
    const page = await reportOf('html', '<body><nav>Menu</nav><p>All that the page says.</p></body>');
    expect(page).toMatchObject({ degraded: false, characters_dropped: 4, parser: 'rehype' });
  });

  it('tells of pictures that were left out, and why', async () => {
    const media = [{ name: 'word/media/drawing.emf', content: Buffer.alloc(40, 1) }];
    const bytes = writeDocx([{ paragraph: 'text' }, { picture: 'drawing.emf' }], media);
    expect((await reportOf('docx', bytes)).pictures).toMatchObject({ kept: 0, left_out: 1 });
    const asked = await reportOf('docx', bytes, { pictures: { directory: '/nonexistent' } });
    expect(asked.pictures).toEqual({
      kept: 0,
      left_out: 1,
      reasons: ['A picture is in a format that vision models do not take.'],
    });
  });
});
