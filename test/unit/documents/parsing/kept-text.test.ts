/** Traits of real documents of which text was lost, or for which the whole file was refused. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { FileKind } from '../../../../activities/documents/parsing/file-types.js';
import { openBytesParser } from '../../../support/documents/parse-bytes.js';
import type { BytesParser } from '../../../support/documents/parse-bytes.js';
import { samplePages } from '../../../support/documents/sample-pages.js';
import { writeDocx } from '../../../support/documents/write-docx.js';
import { writePdf } from '../../../support/documents/write-pdf.js';
import { writeRawPdf } from '../../../support/documents/write-raw-pdf.js';
import { traitBytes } from '../../../zoo/trait-specimens.js';

let parser: BytesParser;
beforeAll(async () => {
  parser = await openBytesParser();
});
afterAll(() => parser.close());

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
    const { text: shown } = await parser.parse('html', traitBytes('paragraphs-of-a-cell.html'));
    const row = shown.split('\n').at(-1)!;
    expect(row.replace(/\s+/g, ' ')).toBe('| inspected approved signed sealed | Ada Bob in side |');
  });

  it('what stands in a form, and the header of an article', async () => {
    const { text: shown } = await parser.parse('html', traitBytes('form-and-header-of-an-article.html'));
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

  it('the headings of a page that tables lay out, and its first row once', async () => {
    const part = (n: number): string => `<h2>Section ${n}</h2><p>${`Words of part ${n}. `.repeat(40)}</p>`;
    const parts = Array.from({ length: 12 }, (_, i) => part(i + 1)).join('');
    const rows = (...cells: string[]): string => cells.map((cell) => `<tr><td>${cell}</td></tr>`).join('\n');
    const inner = rows('Preheader', parts, 'Footer');
    for (const page of [
      `<table role="presentation">${inner}</table>`,
      `<table><tr><td width="20">&nbsp;</td><td><table>${inner}</table></td></tr></table>`,
      `<table><tr><td>Menu<br>Home</td><td>Preheader${parts}</td><td>Footer</td></tr></table>`,
      `<table><tr><th><table>${inner}</table></th></tr></table>`,
    ]) {
      const { chunks, text: shown } = await parser.parse('html', page);
      expect(chunks.flatMap(({ headingPath }) => headingPath)).toEqual(
        expect.arrayContaining(Array.from({ length: 12 }, (_, i) => `Section ${i + 1}`)),
      );
      expect(shown).not.toContain('|');
      expect(shown.match(/Preheader/g)).toHaveLength(1);
      expect(shown.match(/Footer/g)).toHaveLength(1);
    }
  });

  it('what stands in one row of such a page in one line, and tables of data as tables', async () => {
    const sum = '<tr><td><p>Sum</p></td><td>\n<p><b>12</b> EUR</p></td><td></td></tr>';
    const data =
      '<table><tr><td><h3>Flour</h3></td><td><h3>EUR</h3></td></tr><tr><td>rye</td><td>12</td></tr></table>';
    const laidOut = `<table role="none"><tr><td>Flour</td><td>rye</td></tr>${sum}</table>`;
    const { text: shown } = await parser.parse('html', `<table><tr><td>${laidOut}</td></tr></table>${data}`);
    expect(shown).toBe('Flour | rye\n\nSum | **12** EUR\n\n| Flour | EUR |\n| - | - |\n| rye | 12 |');
  });
});

describe('letters whose accents stand apart (NFD) are composed', () => {
  const apart = 'La mère élève la pâtisserie.'.normalize('NFD');

  it('in HTML, in headings as well, and are not counted as hidden', async () => {
    const { chunks, report } = await parser.parse('html', `<h1>${apart}</h1><p>${apart}</p>`);
    expect(chunks[0]).toMatchObject({ headingPath: [apart.normalize('NFC')] });
    expect(chunks[0]!.text).toBe(`# ${apart}\n\n${apart}`.normalize('NFC'));
    expect(report?.characters_dropped).toBe(0);
  });

  it('in text, which then no longer says where it stood', async () => {
    const { chunks } = await parser.parse('txt', apart);
    expect(chunks[0]!.text).toBe(apart.normalize('NFC'));
    expect(chunks[0]).not.toHaveProperty('charStart');
    const whole = await parser.parse('txt', apart.normalize('NFC'));
    expect(whole.chunks[0]!.charStart).toBe(0);
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

  it('headings of a house style, and of an outline level', async () => {
    const word = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main';
    const style = (id: string, name: string, more: string): string =>
      `<w:style w:type="paragraph" w:styleId="${id}"><w:name w:val="${name}"/>${more}</w:style>`;
    const level = (n: number): string => `<w:outlineLvl w:val="${n}"/>`;
    const styles =
      style('Heading1', 'heading 1', '') +
      style('9x', 'Company Heading', '<w:basedOn w:val="Heading1"/>') +
      style('Part', 'Part of Ours', `<w:pPr>${level(1)}</w:pPr>`) +
      style('Deep', 'heading 7', '') +
      style('TOCHeading', 'TOC Heading', `<w:basedOn w:val="Heading1"/><w:pPr>${level(9)}</w:pPr>`);
    const styled = (properties: string, value: string): { xml: string } => ({
      xml: `<w:p><w:pPr>${properties}</w:pPr><w:r>${text(value)}</w:r></w:p>`,
    });
    const named = (id: string): string => `<w:pStyle w:val="${id}"/>`;
    const clause = `${'A clause that is counted. '.repeat(10)}End.`;
    const { text: shown, chunks } = await parser.parse(
      'docx',
      writeDocx(
        [
          styled(named('TOCHeading'), 'Contents'),
          styled(named('9x'), 'One'),
          { paragraph: 'first' },
          styled(named('Part'), 'Two'),
          styled(named('Part'), clause),
          styled(level(2), 'Three'),
          styled(named('Deep'), 'Four'),
          styled(`${level(9)}<w:pPrChange w:id="1"><w:pPr>${level(0)}</w:pPr></w:pPrChange>`, 'last'),
        ],
        [{ name: 'word/styles.xml', content: `<w:styles xmlns:w="${word}">${styles}</w:styles>` }],
      ),
    );
    expect(shown.split(/\n+/)).toEqual([
      'Contents',
      '# One',
      'first',
      '## Two',
      clause,
      '### Three',
      '###### Four',
      'last',
    ]);
    expect(chunks.at(-1)!.headingPath).toEqual(['One', 'Two', 'Three', 'Four']);
  });

  it('the paragraphs of a cell apart', async () => {
    const { text: shown } = await parser.parse('docx', traitBytes('paragraphs-of-a-cell.docx'));
    expect(shown).toContain('| inspected approved signed |');
  });
});

describe('Word keeps the text around references that lead nowhere:', () => {
  const office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
  const drawing = 'http://schemas.openxmlformats.org/drawingml/2006';
  const names =
    `xmlns:r="${office}" xmlns:a="${drawing}/main" xmlns:pic="${drawing}/picture" ` +
    `xmlns:wp="${drawing}/wordprocessingDrawing" xmlns:v="urn:schemas-microsoft-com:vml"`;
  const picture = (reference: string): string =>
    `<w:r><w:drawing><wp:inline><wp:docPr id="1" name="p"/><a:graphic><a:graphicData><pic:pic><pic:blipFill>` +
    `<a:blip ${reference}/></pic:blipFill></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r>`;

  it.each([
    ['a picture', picture('r:embed="rId77"')],
    ['a linked picture', picture('r:link="rId77"')],
    ['an old picture', '<w:r><w:pict><v:shape><v:imagedata r:id="rId78"/></v:shape></w:pict></w:r>'],
    ['a link', `<w:hyperlink r:id="rId9" w:anchor="top"><w:r>${text('linked')}</w:r></w:hyperlink>`],
    ['a footnote', '<w:r><w:footnoteReference w:id="5"/></w:r>'],
    ['an endnote', '<w:r><w:endnoteReference w:id="5"/></w:r>'],
  ])('%s', async (what, reference) => {
    const xml = `<w:p ${names}><w:r>${text('before ')}</w:r>${reference}<w:r>${text(' after')}</w:r></w:p>`;
    for (const extra of [[], [{ name: 'word/_rels/document.xml.rels', content: '<Relationships/>' }]]) {
      const { text: shown, report } = await parser.parse('docx', writeDocx([{ xml }], extra));
      expect(shown.replace('linked', '').replace(/\s+/g, ' ')).toBe('before after');
      expect(shown.includes('linked')).toBe(what === 'a link');
      expect(report!.pictures?.left_out ?? 0).toBe(what.includes('picture') ? 1 : 0);
    }
  });
});

/** The document refers to a part of each of these types, which is named after it. */
function relationships(...types: string[]): { name: string; content: string } {
  const office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
  const each = types.map(
    (type) => `<Relationship Id="${type}" Type="${office}/${type}" Target="${type}.xml"/>`,
  );
  return { name: 'word/_rels/document.xml.rels', content: `<Relationships>${each.join('')}</Relationships>` };
}

describe('Word keeps what mammoth leaves out:', () => {
  it('simple fields, readings above words, and equations', async () => {
    const { text: shown } = await parser.parse('docx', traitBytes('fields-readings-equations.docx'));
    expect(shown.split(/\n+/)).toEqual(['Due on 1 May', '東京(とうきょう)', 'y=(x^2)/(√(a+b))']);
  });

  it('the numbers of clauses and headings as Word counts them', async () => {
    const level = (i: number, format: string, shown: string, more = ''): string =>
      `<w:lvl w:ilvl="${i}"><w:start w:val="1"/><w:numFmt w:val="${format}"/>${more}<w:lvlText w:val="${shown}"/></w:lvl>`;
    const clauses =
      level(0, 'decimal', 'Article %1.') + level(1, 'decimal', '%1.%2') + level(2, 'lowerLetter', '%3)');
    const headings = level(0, 'upperRoman', '%1', '<w:pStyle w:val="Heading1"/>');
    const list = (id: number, definition: number, more = ''): string =>
      `<w:num w:numId="${id}"><w:abstractNumId w:val="${definition}"/>${more}</w:num>`;
    const restart = '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="7"/></w:lvlOverride>';
    const numbering =
      `<w:numbering xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">` +
      `<w:abstractNum w:abstractNumId="1">${clauses}</w:abstractNum>` +
      `<w:abstractNum w:abstractNumId="2">${headings}</w:abstractNum>` +
      `<w:abstractNum w:abstractNumId="3">${level(0, 'bullet', '*') + level(1, 'bullet', '*')}</w:abstractNum>` +
      `${list(1, 1)}${list(2, 2)}${list(3, 3)}${list(4, 1, restart)}</w:numbering>`;
    const item = (id: number, depth: number, value: string): { xml: string } => ({
      xml:
        `<w:p><w:pPr><w:numPr><w:ilvl w:val="${depth}"/><w:numId w:val="${id}"/></w:numPr></w:pPr>` +
        `<w:r>${text(value)}</w:r></w:p>`,
    });
    const heading = (value: string): { xml: string } => ({
      xml: `<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r>${text(value)}</w:r></w:p>`,
    });
    const word = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main';
    const style =
      '<w:style w:type="paragraph" w:styleId="Heading1"><w:name w:val="heading 1"/>' +
      '<w:pPr><w:numPr><w:numId w:val="2"/></w:numPr></w:pPr></w:style>';
    const docx = writeDocx(
      [
        heading('Terms'),
        item(1, 0, 'Payment'),
        { paragraph: 'Within a month.' },
        item(1, 0, 'Liability'),
        item(1, 1, 'Cap'),
        item(1, 2, 'of damages'),
        item(1, 2, 'of costs'),
        item(3, 1, 'a bullet'),
        item(1, 1, 'Exclusions'),
        item(1, 0, 'Term'),
        item(1, 1, 'Notice'),
        heading('Annex'),
        item(4, 0, 'Begun anew'),
        { paragraph: 'Then' },
        item(3, 0, 'one'),
      ],
      [
        { name: 'word/numbering.xml', content: numbering },
        { name: 'word/styles.xml', content: `<w:styles xmlns:w="${word}">${style}</w:styles>` },
        relationships('styles', 'numbering'),
      ],
    );
    const { text: shown, chunks } = await parser.parse('docx', docx);
    expect(shown.split(/\n+/)).toEqual([
      '# I Terms',
      'Article 1. Payment',
      'Within a month.',
      'Article 2. Liability',
      '2.1 Cap',
      'a) of damages',
      'b) of costs',
      '- a bullet',
      '2.2 Exclusions',
      'Article 3. Term',
      '3.1 Notice',
      '# II Annex',
      'Article 7. Begun anew',
      'Then',
      '- one',
    ]);
    expect(chunks[0]!.headingPath).toEqual(['I Terms']);
  });

  it('headers, footers and comments, once each, behind the text', async () => {
    const { text: shown } = await parser.parse('docx', traitBytes('headers-footers-comments.docx'));
    expect(shown.split(/\n+/)).toEqual([
      'The body.',
      'Mill of the North',
      'Confidential',
      'Comment by Ada: Is this & that so?',
    ]);
  });

  it('runs of a given direction', async () => {
    const xml =
      `<w:p><w:r>${text('Total: ')}</w:r><w:dir w:val="rtl"><w:r>${text('12')}</w:r></w:dir>` +
      `<w:bdo w:val="ltr"><w:r>${text(' talers')}</w:r></w:bdo></w:p>`;
    expect((await parser.parse('docx', writeDocx([{ xml }]))).text).toBe('Total: 12 talers');
  });

  it('text boxes of other programs than Word, once each', async () => {
    const names =
      'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" xmlns:wps="urn:wps"';
    const content = (value: string): string =>
      `<w:txbxContent><w:p><w:r>${text(value)}</w:r></w:p></w:txbxContent>`;
    const box = (value: string): string => `<wps:txbx>${content(value)}</wps:txbx>`;
    const choice = (value: string): string =>
      `<mc:Choice Requires="wps"><w:drawing>${box(value)}</w:drawing></mc:Choice>`;
    const alternatives = (value: string): string => `<mc:AlternateContent>${value}</mc:AlternateContent>`;
    const size = alternatives('<mc:Choice Requires="wp14"><w:size/></mc:Choice><mc:Fallback/>');
    const paragraph = (shape: string): { xml: string } => ({
      xml: `<w:p ${names}><w:r>${text('beside')}${shape}</w:r></w:p>`,
    });
    const { text: shown } = await parser.parse(
      'docx',
      writeDocx([
        paragraph(alternatives(`${choice('of Google')}<mc:Fallback><w:pict/></mc:Fallback>`)),
        paragraph(alternatives(choice('without another'))),
        paragraph(`<w:drawing>${size}${box('of Pages')}${box('second')}</w:drawing>`),
        paragraph(
          alternatives(
            `${choice('of Word')}<mc:Fallback><w:pict>${content('of Word')}</w:pict></mc:Fallback>`,
          ),
        ),
      ]),
    );
    expect(shown.replaceAll('beside', '').trim().split(/\n+/)).toEqual([
      'of Google',
      'without another',
      'of Pages',
      'second',
      'of Word',
    ]);
  });

  it('nothing of parts in other formats, and says so', async () => {
    const { text: shown, report } = await parser.parse(
      'docx',
      writeDocx([
        { paragraph: 'Before.' },
        { xml: '<w:altChunk r:id="c1" xmlns:r="urn:r"/>' },
        { paragraph: 'After.' },
      ]),
    );
    expect(shown).toMatch(/Before\.\s+After\./);
    expect(report!.reasons).toEqual([expect.stringContaining('kept in another format')]);
  });

  it('the same comment of two people, text boxes of headers once, and footnotes under no heading', async () => {
    const names =
      'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" ' +
      'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"';
    const words = (value: string): string => `<w:p><w:r>${text(value)}</w:r></w:p>`;
    const comment = (id: number, author: string): string =>
      `<w:comment w:id="${id}" w:author="${author}">${words('Approved')}</w:comment>`;
    const box = `<w:txbxContent>${words('Boxed letterhead')}</w:txbxContent>`;
    const alternatives =
      `<mc:AlternateContent><mc:Choice Requires="wps">${box}</mc:Choice>` +
      `<mc:Fallback><w:pict>${box}</w:pict></mc:Fallback></mc:AlternateContent>`;
    const docx = writeDocx(
      [
        { heading: 'Article 1', level: 1 },
        { xml: `<w:p><w:r>${text('A claim')}<w:footnoteReference w:id="2"/></w:r></w:p>` },
        { heading: 'Annex', level: 1 },
        { paragraph: 'Annex text' },
      ],
      [
        {
          name: 'word/comments.xml',
          content: `<w:comments ${names}>${comment(0, 'Alice')}${comment(1, 'Bob')}</w:comments>`,
        },
        {
          name: 'word/header.xml',
          content: `<w:hdr ${names}><w:p><w:r>${alternatives}</w:r></w:p></w:hdr>`,
        },
        {
          name: 'word/footnotes.xml',
          content: `<w:footnotes ${names}><w:footnote w:id="2">${words('Its source.')}</w:footnote></w:footnotes>`,
        },
        relationships('styles', 'header', 'comments', 'footnotes'),
      ],
    );
    const { chunks, text: shown } = await parser.parse('docx', docx);
    expect(shown).toContain('Comment by Alice: Approved');
    expect(shown).toContain('Comment by Bob: Approved');
    expect(shown.match(/Boxed letterhead/g)).toHaveLength(1);
    expect(shown).not.toContain('↑');
    const cited = chunks.filter((chunk) => chunk.text.includes('Its source.'));
    expect(cited.map(({ headingPath }) => headingPath)).toEqual([[]]);
    expect(cited[0]!.text).toMatch(/^Notes:\s+1\. Its source\./);
    expect(chunks.find((chunk) => chunk.text.includes('Annex text'))!.headingPath).toEqual(['Annex']);
  });
});

/** A line of text at a place (points from the lower left corner). */
function at(x: number, y: number, value: string, font = 'F1'): string {
  return `BT /${font} 11 Tf ${x} ${y} Td (${value}) Tj ET `;
}

describe('PDF keeps', () => {
  const lines = (page: number) =>
    Array.from({ length: 6 }, (_, i) => ({
      text: `Line ${i + 1} of page ${page} speaks of woven wire and of it alone.`,
    }));

  it('names in running headers and footers, once', async () => {
    const pages = [1, 2, 3, 4].map((page) => [
      { text: 'Patient: Jane Doe', y: 815, size: 9 },
      ...lines(page),
      { text: 'St. Mary Hospital, Bath - Head: Dr. Erika Muster', y: 30, size: 9 },
    ]);
    const { text: shown } = await parser.parse('pdf', writePdf(pages));
    expect(shown.match(/Jane Doe|Erika Muster/g)).toEqual(['Jane Doe', 'Erika Muster']);
  });

  it('the title of slides that follow each other, as their heading', async () => {
    const pages = ['Motivation', 'Results', 'Results', 'Results', 'Outlook'].map((title, i) => [
      { text: title, y: 800, size: 22, bold: true },
      ...lines(i + 1),
    ]);
    const { chunks, text: shown } = await parser.parse('pdf', writePdf(pages));
    const paths = Object.fromEntries(chunks.map(({ page, headingPath }) => [page, headingPath]));
    expect(paths).toEqual({
      1: ['Motivation'],
      2: ['Results'],
      3: ['Results'],
      4: ['Results'],
      5: ['Outlook'],
    });
    expect(shown.match(/# \w+/g)).toEqual(['# Motivation', '# Results', '# Outlook']);
  });

  it('turned text beside what is level', async () => {
    const { text: shown } = await parser.parse('pdf', traitBytes('turned-text.pdf'));
    expect(shown).toContain('turned label');
    expect(shown).toContain('Line 11 of a page');
  });

  it('signs that Markdown would escape as they are', async () => {
    const content = at(60, 700, 'The CUSTOMER_TAX_ID times *two* or C:\\\\temp.');
    const { text: shown } = await parser.parse('pdf', writeRawPdf({ contents: [content] }));
    expect(shown).toBe('The CUSTOMER_TAX_ID times *two* or C:\\temp.');
  });

  it('the text of a file that pdf.js cannot open, though it has annotations', async () => {
    const annotations = [
      { dictionary: '/Subtype /Stamp /Rect [60 500 260 540]', appearance: at(5, 10, 'APPROVED') },
    ];
    const pdf = writeRawPdf({ contents: [at(60, 700, 'Body above')], annotations }).toString('latin1');
    const { text: shown } = await parser.parse('pdf', Buffer.from(pdf.replace('/Count', '+Count'), 'latin1'));
    expect(shown).toContain('Body above');
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
    const { text: shown } = await parser.parse('pdf', traitBytes('kerned-words.pdf'));
    expect(shown.replace(/\s+/g, ' ')).toBe(
      'The declarations of the poets are signed by so these words for all of them are the words for it',
    );
  });

  it('notes and stamps that were put on a page, in their place', async () => {
    const { text: shown } = await parser.parse('pdf', traitBytes('notes-and-stamps.pdf'));
    expect(shown.split(/\n+/)).toEqual(['Body above', 'Checked by Ada', 'APPROVED 2026', 'Body below']);
  });

  it('what runs along all pages once, and the numbers of documents that count along', async () => {
    const footer = 'ACME SAS - SIRET 552 100 554 00013 - IBAN FR76 3000';
    const pages = [1, 2, 3, 4].map((n) => [
      { text: `Invoice ${1000 + n}`, y: 810 },
      { text: `For ${['barley', 'rye', 'oats', 'wheat'][n - 1]} of the mill, paid in silver.`, y: 600 },
      { text: footer, y: 40 },
      { text: `Page ${n} of 4`, y: 20 },
    ]);
    const { text: shown } = await parser.parse('pdf', writePdf(pages));
    for (const n of [1001, 1002, 1003, 1004]) expect(shown).toContain(`Invoice ${n}`);
    expect(shown.split(footer)).toHaveLength(2);
    expect(shown).not.toMatch(/Page [2-4] of/);
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
