/** Traits of real documents of which text was lost, or for which the whole file was refused. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { FileKind } from '../../../../activities/documents/parsing/file-types.js';
import { openBytesParser } from '../../../support/documents/parse-bytes.js';
import type { BytesParser } from '../../../support/documents/parse-bytes.js';
import { samplePages } from '../../../support/documents/sample-pages.js';
import { writeDocx } from '../../../support/documents/write-docx.js';
import { writePdf } from '../../../support/documents/write-pdf.js';
import { writeRawPdf } from '../../../support/documents/write-raw-pdf.js';

let parser: BytesParser;
beforeAll(async () => {
  parser = await openBytesParser();
});
afterAll(() => parser.close());

function run(...content: string[]): string {
  return `<w:p>${content.map((c) => `<w:r>${c}</w:r>`).join('')}</w:p>`;
}

function text(value: string): string {
  return `<w:t xml:space="preserve">${value}</w:t>`;
}

describe('HTML keeps', () => {
  it('a heading with a line break', async () => {
    const long = 'Sieves of woven wire. '.repeat(20);
    const { chunks } = await parser.parse(
      'html',
      `<h1>Annual<br>report</h1><p>${long}</p><h2>Part <b>two<br>b</b></h2><p>${long}</p>`,
    );
    expect(chunks.map((chunk) => chunk.headingPath)).toEqual([
      ['Annual report'],
      ['Annual report', 'Part two b'],
    ]);
    expect(chunks[0]!.text).toMatch(/^# Annual report\n\nSieves/);
  });

  it('the paragraphs, lines and lists of a cell apart, in one row', async () => {
    const { text: shown } = await parser.parse(
      'html',
      '<table><tr><th>State</th><th>By</th></tr><tr><td><p>inspected</p><p>approved</p>signed<br>sealed</td>' +
        '<td><ul><li>Ada</li><li>Bob</li></ul><table><tr><td>in<td>side</table></td></tr></table>',
    );
    const row = shown.split('\n').at(-1)!;
    expect(row.replace(/\s+/g, ' ')).toBe('| inspected approved signed sealed | Ada Bob in side |');
  });

  it('what stands in a form, and the header of an article', async () => {
    const { text: shown } = await parser.parse(
      'html',
      `<body><header>Banner of the site</header><form action="/"><p>The whole page stands in a form.</p></form>
      <article><header><h1>Title of the article</h1><p>By the author</p></header><p>Body</p>
      <footer>Sources of the article</footer></article><footer>Imprint</footer></body>`,
    );
    for (const kept of [
      'The whole page',
      '# Title of the article',
      'By the author',
      'Sources of the article',
    ])
      expect(shown).toContain(kept);
    expect(shown).not.toMatch(/Banner|Imprint/);
  });

  it('the caption of a table', async () => {
    const { text: shown } = await parser.parse(
      'html',
      '<table><caption>Meshes by width</caption><tr><th>a</th></tr><tr><td>b</td></tr></table>',
    );
    expect(shown).toContain('Meshes by width');
    expect(shown).toContain('| b |');
  });
});

describe('Word keeps', () => {
  it('a heading with a line break', async () => {
    const heading = `<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r>${text('Annual')}<w:br/>${text('report')}</w:r></w:p>`;
    const { chunks } = await parser.parse('docx', writeDocx([{ xml: heading }, { paragraph: 'one' }]));
    expect(chunks.map((chunk) => [chunk.headingPath, chunk.text])).toEqual([
      [['Annual report'], '# Annual report\n\none'],
    ]);
  });

  it('the paragraphs of a cell apart', async () => {
    const cell = `<w:tc>${run(text('inspected'))}${run(text('approved'))}${run(text('signed'))}</w:tc>`;
    const { text: shown } = await parser.parse(
      'docx',
      writeDocx([{ xml: `<w:tbl><w:tr>${cell}</w:tr></w:tbl>` }]),
    );
    expect(shown).toContain('| inspected approved signed |');
  });
});

describe('Word keeps what mammoth leaves out:', () => {
  it('simple fields, readings above words, and equations', async () => {
    const field = `<w:p><w:r>${text('Due on ')}</w:r><w:fldSimple w:instr=" DATE "><w:r>${text('1 May')}</w:r></w:fldSimple></w:p>`;
    const ruby = `<w:p><w:r><w:ruby><w:rubyPr/><w:rt><w:r>${text('とうきょう')}</w:r></w:rt><w:rubyBase><w:r>${text('東京')}</w:r></w:rubyBase></w:ruby></w:r></w:p>`;
    const r = (value: string): string => `<m:r><m:t>${value}</m:t></m:r>`;
    const square = `<m:sSup><m:e>${r('x')}</m:e><m:sup>${r('2')}</m:sup></m:sSup>`;
    const root = `<m:rad><m:radPr><m:degHide m:val="1"/></m:radPr><m:deg/><m:e>${r('a+b')}</m:e></m:rad>`;
    const equation = `<w:p><m:oMathPara><m:oMath>${r('y=')}<m:f><m:num>${square}</m:num><m:den>${root}</m:den></m:f></m:oMath></m:oMathPara></w:p>`;
    const { text: shown } = await parser.parse('docx', writeDocx([{ xml: field + ruby + equation }]));
    expect(shown.split(/\n+/)).toEqual(['Due on 1 May', '東京(とうきょう)', 'y=(x^2)/(√(a+b))']);
  });

  it('headers, footers and comments, once each, behind the text', async () => {
    const wrap = (name: string, body: string): string => `<w:${name} xmlns:w="w">${body}</w:${name}>`;
    const type = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
    const relationships = ['header', 'footer', 'comments']
      .map((name) => `<Relationship Id="x${name}" Type="${type}/${name}" Target="${name}9.xml"/>`)
      .join('');
    const comment = `<w:comment w:id="0" w:author="Ada">${run(text('Is this &amp; that so?'))}</w:comment>`;
    const bytes = writeDocx(
      [{ paragraph: 'The body.' }],
      [
        { name: 'word/_rels/document.xml.rels', content: `<Relationships>${relationships}</Relationships>` },
        {
          name: 'word/header9.xml',
          content: wrap('hdr', run(text('Mill of the '), text('North')) + run(text('7'))),
        },
        { name: 'word/footer9.xml', content: wrap('ftr', run(text('Confidential'))) },
        { name: 'word/comments9.xml', content: wrap('comments', comment) },
      ],
    );
    const { text: shown } = await parser.parse('docx', bytes);
    expect(shown.split(/\n+/)).toEqual([
      'The body.',
      'Mill of the North',
      'Confidential',
      'Comment by Ada: Is this & that so?',
    ]);
  });
});

/** A line of text at a place (points from the lower left corner). */
function at(x: number, y: number, value: string, font = 'F1'): string {
  return `BT /${font} 11 Tf ${x} ${y} Td (${value}) Tj ET `;
}

describe('PDF keeps', () => {
  it('turned text beside what is level', async () => {
    const body = Array.from({ length: 12 }, (_, i) =>
      at(60, 700 - i * 15, `Line ${i} of a page that is read.`),
    );
    const turned = 'BT /F1 11 Tf 0 1 -1 0 500 500 Tm (turned label) Tj ET ';
    const { text: shown } = await parser.parse('pdf', writeRawPdf({ contents: [body.join('') + turned] }));
    expect(shown).toContain('turned label');
    expect(shown).toContain('Line 11 of a page');
  });

  it('signs that Markdown would escape as they are', async () => {
    const content = at(60, 700, 'The CUSTOMER_TAX_ID times *two* or C:\\\\temp.');
    const { text: shown } = await parser.parse('pdf', writeRawPdf({ contents: [content] }));
    expect(shown).toBe('The CUSTOMER_TAX_ID times *two* or C:\\temp.');
  });

  it('characters beyond U+FFFF', async () => {
    const toUnicode =
      '/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def /CMapType 2 def ' +
      '1 begincodespacerange <00> <ff> endcodespacerange 2 beginbfchar <41> <D835DC00> <42> <D842DFB7> endbfchar ' +
      '1 beginbfrange <61> <7a> <0061> endbfrange endcmap end end';
    const content = at(60, 700, 'AB set', 'F2') + at(60, 680, 'plain words');
    const { text: shown } = await parser.parse('pdf', writeRawPdf({ contents: [content], toUnicode }));
    expect(shown).toContain('\u{1d400}\u{20bb7}');
    expect(shown).toContain('plain words');
  });

  it('words whole that the font moves apart, and words that are close apart', async () => {
    const kerned = 'BT /F1 11 Tf 60 700 Td [(The dec) -150 (larations of the poets are signed by)] TJ ET ';
    const tight =
      'BT /F1 11 Tf 60 680 Td [(so these words) -150 (for all of them are the words for it)] TJ ET ';
    const { text: shown } = await parser.parse('pdf', writeRawPdf({ contents: [kerned + tight] }));
    expect(shown.replace(/\s+/g, ' ')).toBe(
      'The declarations of the poets are signed by so these words for all of them are the words for it',
    );
  });

  it('notes and stamps that were put on a page, in their place', async () => {
    const annotations = [
      { dictionary: '/Subtype /FreeText /Rect [60 600 260 640] /Contents (Checked by Ada)' },
      {
        dictionary: '/Subtype /Stamp /Rect [60 500 260 540]',
        appearance: 'BT /F1 11 Tf 5 10 Td (APPROVED 2026) Tj ET',
      },
      { dictionary: '/Subtype /Text /Rect [60 300 80 320] /Contents (a private remark)' },
    ];
    const contents = [at(60, 700, 'Body above') + at(60, 400, 'Body below')];
    const { text: shown } = await parser.parse('pdf', writeRawPdf({ contents, annotations }));
    expect(shown.split(/\n+/)).toEqual(['Body above', 'Checked by Ada', 'APPROVED 2026', 'Body below']);
  });

  it('what is there of a file that is cut off', async () => {
    const good = writePdf(samplePages(3));
    const half = await parser.parse('pdf', good.subarray(0, good.length / 2));
    expect(half.text).toContain('Line 5 on page 1 speaks of brushes and soap');
    const near = await parser.parse('pdf', good.subarray(0, good.length - 150));
    expect(near.text).toContain('Line 5 on page 3 speaks of brushes and soap');
  });
});

describe('a fault', () => {
  it('of our own code is not called the file’s', async () => {
    const failure: unknown = await parser.parse('none' as FileKind, 'text').catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'PARSER_INTERNAL_ERROR', retryable: true, details: {} });
    expect((failure as Error).message).not.toMatch(/undefined|TypeError/);
  });
});
