import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CFB, utils, write } from '@e965/xlsx';
import type { BookType } from '@e965/xlsx';
import { checkContent } from '../../../../../activities/documents/parsing/content-check.js';
import { startTestParser } from '../../../../support/documents/parse-file.js';
import type { TestParser } from '../../../../support/documents/parse-file.js';
import { writeEpub, writeOpenDocument, writePptx } from '../../../../support/documents/write-office.js';
import { writeOle } from '../../../../support/documents/write-ole.js';
import { writeZip } from '../../../../support/documents/write-zip.js';

let parser: TestParser;
beforeAll(async () => {
  parser = await startTestParser();
});
afterAll(() => parser.close());

function book(sheets: Record<string, unknown[][]>, bookType: BookType): Buffer {
  const workbook = utils.book_new();
  for (const [name, rows] of Object.entries(sheets))
    utils.book_append_sheet(workbook, utils.aoa_to_sheet(rows, { UTC: true, cellDates: true }), name);
  return write(workbook, { bookType, type: 'buffer' }) as Buffer;
}

function source(bytes: Buffer) {
  return {
    size: bytes.length,
    read: (start: number, end: number) => Promise.resolve(bytes.subarray(start, end)),
  };
}

describe.each([
  ['xlsx', 'xlsx'],
  ['xls', 'biff8'],
  ['ods', 'ods'],
] as const)('%s', (kind, bookType) => {
  it('gives sheets as headings, tables with their header, and dates as ISO', async () => {
    const bytes = book(
      {
        Prices: [
          ['flour', 'price', 'since', 'sold'],
          ['rye | dark', 1.5, new Date('2024-02-29T00:00:00Z'), true],
          ['blé "T55"', 2, new Date('2023-07-01T13:30:00Z'), false],
        ],
        'Über uns': [['only'], ['one column 日本']],
      },
      bookType,
    );
    await checkContent(kind, source(bytes));
    const { chunks } = await parser.parse(kind, bytes);
    expect(chunks.map(({ text }) => text).join('\n')).toBe(
      [
        '# Prices',
        '',
        '| flour | price | since | sold |',
        '| --- | --- | --- | --- |',
        '| rye \\| dark | 1.5 | 2024-02-29 | true |',
        '| blé "T55" | 2 | 2023-07-01T13:30:00 | false |',
        '# Über uns',
        '',
        'only',
        'one column 日本',
      ].join('\n'),
    );
    expect(new Set(chunks.map(({ headingPath }) => headingPath.join()))).toEqual(
      new Set(['Prices', 'Über uns']),
    );
  });

  it('repeats the header in every chunk of a long sheet and loses no row', async () => {
    const rows = Array.from({ length: 2000 }, (_, i) => [`part ${i}`, i]);
    const { chunks } = await parser.parse(kind, book({ All: [['part', 'number'], ...rows] }, bookType));
    const tables = chunks.filter(({ chunkType }) => chunkType === 'table');
    expect(tables.length).toBeGreaterThan(5);
    expect(tables.every(({ text }) => text.includes('| part | number |\n| --- | --- |'))).toBe(true);
    for (const [name, number] of [rows[0]!, rows[999]!, rows[1999]!])
      expect(chunks.some(({ text }) => text.includes(`| ${name} | ${number} |`))).toBe(true);
    expect(tables.flatMap(({ text }) => text.match(/\| part \d+ \|/g) ?? [])).toHaveLength(2000);
  });

  it('has a title above the table as text, and the names of the columns in every chunk', async () => {
    const rows = Array.from({ length: 400 }, (_, i) => [`02/01/2024`, `rent ${i}`, 1200, 0]);
    const sheet = [['Accounts of 2024'], [], ['date', 'subject', 'debit', 'credit'], ...rows];
    const { chunks } = await parser.parse(kind, book({ All: sheet }, bookType));
    expect(chunks[0]!.text).toMatch(/^# All\s+Accounts of 2024/);
    const tables = chunks.filter(({ chunkType }) => chunkType === 'table');
    expect(tables.length).toBeGreaterThan(1);
    expect(tables.every(({ text }) => text.includes('| date | subject | debit | credit |'))).toBe(true);
  });

  it('has times and durations as a clock shows them, and sums without binary fractions', async () => {
    const number = (value: number, format?: string): object => ({
      t: 'n',
      v: value,
      ...(format !== undefined && { z: format }),
    });
    const rows = [
      ['start', 'total', 'sum', 'long', 'placeholder'],
      [
        number(14.5 / 24, 'h:mm'),
        number(36.5 / 24, '[h]:mm:ss'),
        0.1 + 0.2,
        1234567890123456,
        new Date('2024-02-29T00:00:00Z'),
      ],
    ];
    const { text } = await parser.parse(kind, book({ All: rows }, bookType));
    expect(text).toContain('| 14:30 | 36:30 | 0.3 | 1234567890123456 | 2024-02-29 |');
  });

  it('says that hidden sheets were read', async () => {
    const workbook = utils.book_new();
    for (const name of ['Prices', 'Notes'])
      utils.book_append_sheet(workbook, utils.aoa_to_sheet([[name]]), name);
    for (const hidden of [0, 1, 2] as const) {
      workbook.Workbook = { Sheets: [{ Hidden: 0 }, { Hidden: hidden }] };
      // The writer of OpenDocument leaves out that a sheet is hidden.
      const said = hidden > 0 && kind !== 'ods' ? [expect.stringContaining('Hidden sheets')] : [];
      const bytes = write(workbook, { bookType, type: 'buffer' }) as Buffer;
      const { text, report } = await parser.parse(kind, bytes);
      expect(text).toContain('Notes');
      expect(report!.warnings).toEqual(said);
    }
  });

  it('refuses more columns and rows than are allowed', async () => {
    const bytes = book({ All: Array.from({ length: 12 }, () => ['a', 'b', 'c']) }, bookType);
    for (const limit of [{ maxColumns: 2 }, { maxRows: 10 }])
      await expect(parser.parse(kind, bytes, { limits: limit })).rejects.toMatchObject({
        code: 'FILE_TOO_COMPLEX',
        details: { limit: Object.keys(limit)[0] },
      });
  });

  it('says that a file is damaged, and refuses what it is not', async () => {
    const bytes = book({ All: [['a', 'b']] }, bookType);
    await expect(parser.parse(kind, bytes.subarray(0, bytes.length / 2))).rejects.toMatchObject({
      code: 'FILE_CORRUPT',
    });
    const other = writeZip([{ name: 'a.txt', content: 'a' }]);
    await expect(checkContent(kind, source(other))).rejects.toMatchObject({ status: 415 });
  });
});

function repacked(bytes: Buffer, change: (name: string, content: string) => string | null): Buffer {
  const { FullPaths, FileIndex } = CFB.read(bytes, { type: 'buffer' }) as {
    FullPaths: string[];
    FileIndex: { content?: Uint8Array }[];
  };
  const parts = FullPaths.map((path, i) => ({
    name: path.replace(/^Root Entry\//, ''),
    content: change(path, Buffer.from(FileIndex[i]!.content ?? '').toString()),
  }));
  return writeZip(
    parts.flatMap(({ name, content }) =>
      content === null || /\/$|^.Sh33t|^$/.test(name) ? [] : [{ name, content }],
    ),
  );
}

it.each([
  ['xlsx', 'sheet1.xml', /<row /, '<row hidden="1" '],
  ['ods', 'content.xml', /<table:table-row/, '<table:table-row table:visibility="collapse"'],
  ['ods', 'content.xml', /<table:table /, '<style:table-properties table:display="false"/><table:table '],
] as const)('%s says that hidden parts were read: %s %s', async (kind, part, from, to) => {
  const bytes = book({ All: [['grain'], ['rye']] }, kind);
  const hiding = repacked(bytes, (name, content) =>
    name.endsWith(part) ? content.replace(from, to) : content,
  );
  const { text, report } = await parser.parse(kind, hiding);
  expect(text).toContain('rye');
  expect(report!.warnings).toEqual([expect.stringContaining('Hidden sheets, rows or columns')]);
});

const ROWS = [
  ['grain', 'since'],
  ['rye', 1842],
];
const TABLE = '| grain | since |\n| --- | --- |\n| rye | 1842 |';

it('xlsx that does not say where its cells stand is read, and one that is damaged is not', async () => {
  const bytes = repacked(book({ All: ROWS }, 'xlsx'), (name, content) =>
    name.includes('sheet1.xml')
      ? content
          .replaceAll(/ r="\w+"/g, '')
          .replace('<c t="str"><v>grain</v></c>', '<c t="inlineStr"><is><t>grain</t></is></c>')
      : content,
  );
  await checkContent('xlsx', source(bytes));
  expect((await parser.parse('xlsx', bytes)).text).toBe(`# All\n\n${TABLE}`);
  for (const part of ['sheet1.xml', 'workbook.xml']) {
    const damaged = repacked(book({ All: ROWS }, 'xlsx'), (name, content) =>
      name.endsWith(part) ? content.slice(0, 40) : content,
    );
    await expect(parser.parse('xlsx', damaged)).rejects.toMatchObject({ code: 'FILE_CORRUPT' });
  }
});

it.each(['', '<v></v>', '<v />'])(
  'xlsx says that formulas without a result were left out: %s',
  async (value) => {
    const rows = [['price', 'doubled', 'name']];
    const withFormula = (cells: string): Buffer =>
      repacked(book({ All: rows }, 'xlsx'), (name, content) =>
        name.endsWith('sheet1.xml')
          ? content.replace('</sheetData>', `<row r="2">${cells}</row></sheetData>`)
          : content,
      );
    const price = '<c r="A2"><v>4</v></c>';
    const name = '<c r="C2" t="str"><f>""</f><v></v></c>';
    const counted = await parser.parse(
      'xlsx',
      withFormula(`${price}<c r="B2"><f>A2*2</f><v>8</v></c>${name}`),
    );
    expect(counted.text).toContain('| 4 | 8 |');
    expect(counted.report!.reasons).toEqual([]);
    const { text, report } = await parser.parse(
      'xlsx',
      withFormula(`${price}<c r="B2"><f>A2*2</f>${value}</c>`),
    );
    expect(text).toContain('| 4 |');
    expect(report!.reasons).toEqual([expect.stringContaining('Formulas without a stored result')]);
  },
);

it('ods without a part for its styles is read', async () => {
  const bytes = repacked(book({ All: ROWS }, 'ods'), (name, content) =>
    name.includes('styles.xml') ? null : content,
  );
  expect((await parser.parse('ods', bytes)).text).toBe(`# All\n\n${TABLE}`);
});

it('xls of before Excel 97 is read in its code page', async () => {
  const bytes = book(
    {
      IVAN: [
        ['name', 'IVAN'],
        ['year', 1842],
      ],
    },
    'biff5',
  );
  bytes.writeUInt16LE(1251, bytes.indexOf(Buffer.from('42000200', 'hex')) + 4);
  for (let at = 0; (at = bytes.indexOf('IVAN', at)) >= 0;) bytes.set([0xc8, 0xe2, 0xe0, 0xed], at);
  expect((await parser.parse('xls', bytes)).text).toBe(
    '# Иван\n\n| name | Иван |\n| --- | --- |\n| year | 1842 |',
  );
});

/** As much of a container of Office 97 as the checks look at. */
function ole(part: string): Buffer {
  return Buffer.concat([
    Buffer.from('d0cf11e0a1b11ae1', 'hex'),
    Buffer.alloc(1024),
    Buffer.from(part, 'utf16le'),
  ]);
}

it.each(['xlsx', 'pptx'] as const)('%s with a password says so', async (kind) => {
  await checkContent(kind, source(ole('EncryptedPackage')));
  await expect(parser.parse(kind, ole('EncryptedPackage'))).rejects.toMatchObject({ code: 'FILE_ENCRYPTED' });
  const far = writeOle(['EncryptionInfo', 'EncryptedPackage'], 4096);
  await expect(parser.parse(kind, far)).rejects.toMatchObject({ code: 'FILE_ENCRYPTED' });
  await expect(parser.parse(kind, ole('Workbook'))).rejects.toMatchObject({ code: 'UNSUPPORTED_CONTENT' });
});

describe('pptx', () => {
  const LONG = 'word '.repeat(40);
  const slides = [
    { title: 'The mill', lines: ['Built in 1842', 'Café & crème', LONG], notes: 'Wait for the laughter.' },
    { lines: ['A first line instead of a title', 'second'] },
    {
      title: 'Numbers',
      table: [
        ['grain', 'kg'],
        ['rye', '12'],
        ['oats', '7'],
      ],
    },
  ];

  it('has slides as pages, titles as headings, and tells speaker notes apart', async () => {
    const { chunks, pages } = await parser.parse('pptx', writePptx(slides));
    expect(pages).toBe(3);
    const first = chunks.filter(({ page }) => page === 1);
    expect(first[0]).toMatchObject({ headingPath: ['The mill'] });
    expect(first[0]!.text).toMatch(/^# The mill\s+Built in 1842\s+Café & crème\s+(word )+/);
    expect(first[1]).toMatchObject({ headingPath: ['The mill', 'Speaker notes'] });
    expect(first[1]!.text).toContain('Wait for the laughter.');
    const second = chunks
      .filter(({ page }) => page === 2)
      .map(({ text }) => text)
      .join('\n');
    expect(second).toMatch(/^# A first line instead of a title\s+second$/);
    const third = chunks
      .filter(({ page }) => page === 3)
      .map(({ text }) => text)
      .join('\n');
    expect(third).toContain('| grain | kg |\n| --- | --- |\n| rye | 12 |\n| oats | 7 |');
  });

  it('has its slides in the order of the show, each with its own notes, and not those that were left behind', async () => {
    const moved = [
      { title: 'The end', lines: ['Thank you', LONG], notes: 'Bow.', notesNumber: 2 },
      { title: 'Deleted', lines: ['Nobody sees this'], notes: 'Nor this.', notesNumber: 9 },
      { title: 'The mill', lines: ['Built in 1842', LONG], notes: 'Wait for the laughter.', notesNumber: 1 },
      { title: 'The budget', lines: ['Twelve', LONG], hidden: true },
    ];
    const { chunks, pages, text, report } = await parser.parse('pptx', writePptx(moved, [], [3, 4, 1]));
    const titles = chunks.map(({ page, headingPath }) => `${page} ${headingPath.join(' / ')}`);
    expect(titles).toEqual([
      '1 The mill',
      '1 The mill / Speaker notes',
      '2 The budget',
      '3 The end',
      '3 The end / Speaker notes',
    ]);
    expect(chunks[1]!.text).toContain('Wait for the laughter.');
    expect(chunks.at(-1)!.text).toContain('Bow.');
    expect(text).not.toMatch(/Nobody|Nor this/);
    expect(pages).toBe(3);
    expect(report!.warnings).toEqual([expect.stringContaining('Hidden slides')]);
    expect(report!.characters_dropped).toBeGreaterThan(0);
  });

  it('says that hidden shapes were read', async () => {
    const bytes = repacked(writePptx([{ title: 'The mill', lines: ['Built in 1842'] }]), (_name, content) =>
      content.replace('id="3" name="s3"', 'id="3" name="s3" hidden="1"'),
    );
    const { text, report } = await parser.parse('pptx', bytes);
    expect(text).toContain('Built in 1842');
    expect(report!.warnings).toEqual([expect.stringContaining('Hidden shapes')]);
  });

  it('has what its diagrams say', async () => {
    const data = (text: string): string =>
      `<dgm:pt><dgm:t><a:p><a:r><a:t>${text}</a:t></a:r></a:p></dgm:t></dgm:pt>`;
    const type = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships/diagramData';
    const bytes = writePptx(
      [{ title: 'The mill', lines: ['Built in 1842'] }],
      [
        {
          name: 'ppt/diagrams/data1.xml',
          content: `<dgm:dataModel>${data('Clean &amp; sieve')}${data('Grind')}</dgm:dataModel>`,
        },
        {
          name: 'ppt/slides/_rels/slide1.xml.rels',
          content: `<Relationships><Relationship Id="d1" Type="${type}" Target="../diagrams/data1.xml"/></Relationships>`,
        },
      ],
    );
    expect((await parser.parse('pptx', bytes)).text).toMatch(/Built in 1842\s+Clean & sieve\s+Grind/);
  });

  it('has what its charts, its comments and shapes with an alternative say', async () => {
    const points = (...values: string[]): string =>
      values.map((value, i) => `<c:pt idx="${i}"><c:v>${value}</c:v></c:pt>`).join('');
    const title = (text: string): string => `<c:title><a:p><a:r><a:t>${text}</a:t></a:r></a:p></c:title>`;
    const chart =
      `<c:chartSpace xmlns:a="urn:a" xmlns:c="urn:c">${title('Sales &amp; costs')}<c:plotArea><c:ser><c:tx><c:strCache>${points('Flour')}</c:strCache></c:tx>` +
      `<c:cat><c:strCache>${points('2023', '2024')}</c:strCache></c:cat>` +
      `<c:val><c:numCache>${points('42', '50')}</c:numCache></c:val></c:ser></c:plotArea></c:chartSpace>`;
    const shape = (text: string): string =>
      `<p:sp><p:txBody><a:p><a:r><a:t>${text}</a:t></a:r></a:p></p:txBody></p:sp>`;
    const alternatives =
      `<mc:AlternateContent xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"><mc:Choice Requires="a14">${shape('Yield per sack')}</mc:Choice>` +
      `<mc:Fallback>${shape('Yield per sack')}</mc:Fallback></mc:AlternateContent>`;
    const office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
    const modern = 'http://schemas.microsoft.com/office/2018/10/relationships';
    const bytes = repacked(
      writePptx(
        [{ title: 'The mill', lines: ['Built in 1842'] }],
        [
          { name: 'ppt/charts/chart1.xml', content: chart },
          {
            name: 'ppt/comments/comment1.xml',
            content: '<p:cmLst xmlns:p="urn:p"><p:cm><p:text>Too early</p:text></p:cm></p:cmLst>',
          },
          {
            name: 'ppt/comments/modernComment_1.xml',
            content:
              '<p188:cm xmlns:a="urn:a" xmlns:p188="urn:p188"><p188:txBody><a:p><a:r><a:t>Check this</a:t></a:r></a:p></p188:txBody></p188:cm>',
          },
          {
            name: 'ppt/slides/_rels/slide1.xml.rels',
            content:
              `<Relationships><Relationship Id="c1" Type="${office}/chart" Target="../charts/chart1.xml"/>` +
              `<Relationship Id="c2" Type="${office}/comments" Target="../comments/comment1.xml"/>` +
              `<Relationship Id="c3" Type="${modern}/comments" Target="../comments/modernComment_1.xml"/></Relationships>`,
          },
        ],
      ),
      (name, content) =>
        name.endsWith('slides/slide1.xml')
          ? content.replace('</p:spTree>', `${alternatives}</p:spTree>`)
          : content,
    );
    const { text } = await parser.parse('pptx', bytes);
    expect(text.split(/\n+/)).toEqual([
      '# The mill',
      'Built in 1842',
      'Yield per sack',
      'Sales & costs',
      'Flour: 2023 42; 2024 50',
      'Comment: Too early',
      'Comment: Check this',
    ]);
  });

  it('is refused as a bomb, as damaged and as something else', async () => {
    const bomb = writePptx(slides, [
      { name: 'ppt/slides/slide9.xml', content: Buffer.alloc(120_000_000, 32) },
    ]);
    await expect(parser.parse('pptx', bomb)).rejects.toMatchObject({ code: 'FILE_TOO_COMPLEX' });
    const bytes = writePptx(slides);
    await expect(parser.parse('pptx', bytes.subarray(0, bytes.length - 40))).rejects.toMatchObject({
      code: 'FILE_CORRUPT',
    });
    await expect(checkContent('pptx', source(writeEpub('x', [])))).rejects.toMatchObject({ status: 415 });
    await checkContent('pptx', source(bytes));
  });
});

function paragraph(text: string): string {
  return `<text:p>${text}</text:p>`;
}

function cell(text: string): string {
  return `<table:table-cell>${paragraph(text)}</table:table-cell>`;
}

it('odt keeps headings, lists and tables', async () => {
  const body =
    '<text:h text:outline-level="1">Harbour</text:h>' +
    paragraph('The quay &amp; the crane.') +
    '<text:list text:style-name="L1"><text:list-item><text:p>ropes</text:p></text:list-item><text:list-item><text:p>sails</text:p></text:list-item></text:list>' +
    '<text:h text:outline-level="2">Fees</text:h>' +
    `<table:table><table:table-row>${cell('ship')}${cell('fee')}</table:table-row><table:table-row>${cell('barque')}${cell('9')}</table:table-row></table:table>`;
  const bytes = writeOpenDocument('text', body);
  await checkContent('odt', source(bytes));
  const { text, chunks } = await parser.parse('odt', bytes);
  expect(text).toMatch(/# Harbour\s+The quay & the crane\.\s+- ropes\n- sails/);
  expect(text).toContain('| ship | fee |\n| --- | --- |\n| barque | 9 |');
  expect(chunks.at(-1)!.headingPath).toEqual(['Harbour', 'Fees']);
});

it('odt leaves out what was deleted while changes were recorded', async () => {
  const info = '<office:change-info><dc:creator>Ada</dc:creator></office:change-info>';
  const change = (kind: string, content: string): string =>
    `<text:changed-region text:id="${kind}"><text:${kind}>${info}${content}</text:${kind}></text:changed-region>`;
  const changes =
    '<text:tracked-changes xmlns:dc="http://purl.org/dc/elements/1.1/">' +
    change('deletion', paragraph('The fee is 9.')) +
    `${change('insertion', '')}</text:tracked-changes>`;
  const body = `${changes}${paragraph('The fee is <text:change-start text:change-id="insertion"/>12.')}`;
  const { text, report } = await parser.parse('odt', writeOpenDocument('text', body));
  expect(text).toBe('The fee is 12.');
  expect(report!.warnings).toEqual([expect.stringContaining('do not see')]);
  expect(report!.characters_dropped).toBe('The fee is 9.'.length);
});

it('odt keeps header rows, notes, comments, fields, and lists in cells', async () => {
  const row = (...cells: string[]): string => `<table:table-row>${cells.join('')}</table:table-row>`;
  const note = (text: string): string =>
    `<text:note text:note-class="footnote"><text:note-citation>1</text:note-citation><text:note-body>${paragraph(text)}</text:note-body></text:note>`;
  const items = `<text:list text:style-name="L1"><text:list-item>${paragraph('barque')}</text:list-item><text:list-item>${paragraph('cutter')}</text:list-item></text:list>`;
  const comment =
    '<office:annotation xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:creator>Ada</dc:creator>' +
    `<dc:date>2024-05-01T10:00:00</dc:date>${paragraph('Is that')}${paragraph('right?')}</office:annotation>`;
  const body =
    `<text:h text:outline-level="1">Fees${note('Since 1901.')}</text:h>` +
    paragraph(
      `Due on <text:date text:date-value="2024-05-01">1 May 2024</text:date>, see <text:bookmark-ref>Article 5.2</text:bookmark-ref>` +
        `<text:variable-set text:name="x" text:display="none">unseen</text:variable-set>.${comment} Table <text:sequence>3</text:sequence>${note('By weight.')}`,
    ) +
    `<table:table><table:table-header-rows>${row(cell('ship'), cell('fee'))}</table:table-header-rows>` +
    `<table:table-rows>${row(`<table:table-cell>${items}</table:table-cell>`, cell(`9${note('In silver.')}`))}</table:table-rows></table:table>` +
    `<text:list text:style-name="L1"><text:list-header>${paragraph('Of ropes')}</text:list-header><text:list-item>${paragraph('hemp')}</text:list-item></text:list>` +
    `<text:list text:style-name="L1"><text:list-item><text:h text:outline-level="2">Berths</text:h></text:list-item></text:list>` +
    paragraph('Twelve.');
  const { text, chunks } = await parser.parse('odt', writeOpenDocument('text', body));
  expect(text).toContain('Due on 1 May 2024, see Article 5.2. Table 3');
  expect(text).toContain('Comment by Ada: Is that right?');
  for (const said of ['Note: Since 1901.', 'Note: By weight.', 'Note: In silver.', 'Of ropes', 'hemp'])
    expect(text).toContain(said);
  expect(text).toContain('| ship | fee |\n| --- | --- |\n| barque cutter | 9 |');
  expect(text).not.toMatch(/unseen|2024-05-01/);
  expect(chunks.at(-1)!.headingPath).toEqual(['Fees', 'Berths']);
});

it('odt keeps the text of shapes that are anchored to a paragraph', async () => {
  const shape = (name: string, value: string): string =>
    `<draw:${name} text:anchor-type="paragraph">${paragraph(value)}<draw:enhanced-geometry/></draw:${name}>`;
  const body =
    paragraph(
      `The quay ${shape('custom-shape', 'Deep <text:span>water</text:span>')}${shape('rect', '')}has ` +
        `<draw:line text:anchor-type="as-char"/><text:span>cranes.</text:span>` +
        `<draw:g>${shape('ellipse', 'Berth 1')}${shape('custom-shape', 'Berth 2')}</draw:g>`,
    ) +
    `<table:table><table:table-row>${cell(`barque${shape('rect', 'of oak')}`)}${cell('9')}</table:table-row></table:table>` +
    paragraph('Twelve.');
  const { text } = await parser.parse('odt', writeOpenDocument('text', body));
  expect(text.split(/\n+/)).toEqual([
    'The quay has cranes.',
    'Deep water',
    'Berth 1',
    'Berth 2',
    '| barque of oak | 9 |',
    '| --- | --- |',
    'Twelve.',
  ]);
});

it('odp has slides as pages', async () => {
  const slide = (title: string, line: string): string =>
    `<draw:page draw:name="${title}"><draw:frame presentation:class="title"><draw:text-box>${paragraph(title)}</draw:text-box></draw:frame>` +
    `<draw:frame><draw:text-box>${paragraph(line)}</draw:text-box></draw:frame></draw:page>`;
  const bytes = writeOpenDocument('presentation', slide('Tides', 'High at noon') + slide('Winds', 'West'));
  await checkContent('odp', source(bytes));
  const { chunks, pages } = await parser.parse('odp', bytes);
  expect(pages).toBe(2);
  expect(
    chunks
      .filter(({ page }) => page === 2)
      .map(({ text }) => text)
      .join('\n'),
  ).toMatch(/^# Winds\s+West$/);
});

it('epub keeps the chapters in order under their headings', async () => {
  const bytes = writeEpub('A book', [
    '<h1>One</h1><p>It was a mill.</p><table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>',
    '<h1>Two</h1><p>It was a <b>ri</b>ver.</p>',
  ]);
  await checkContent('epub', source(bytes));
  const { text, chunks } = await parser.parse('epub', bytes);
  expect(text).toMatch(
    /# One\s+It was a mill\.\s+\| a \| b \|\n\| --- \| --- \|\n\| 1 \| 2 \|\s+# Two\s+It was a river\./,
  );
  expect(chunks.at(-1)!.headingPath).toEqual(['Two']);
});

it('epub has its character references decoded, and chapters at encoded addresses', async () => {
  const bytes = writeEpub(
    'A book',
    [
      '<h1>One</h1><p>caf&#233; l&#8217;eau &eacute;t&eacute;&mdash;x &amp;eacute; 1 &#60; 2</p>',
      '<h1>Two</h1>',
      '',
    ],
    ['Chapter%201.xhtml', 'two.xhtml', 'gone.xhtml'],
  );
  const { text, report } = await parser.parse('epub', bytes);
  expect(text).toContain('café l’eau été—x &eacute; 1 < 2');
  expect(text).toContain('# Two');
  expect(report!.reasons).toEqual([expect.stringContaining('does not hold')]);
});

it('epub has chapters whose names are none of HTML, and the captions of tables', async () => {
  const table =
    '<table><caption>Yield <b>by</b> year</caption><tr><th>a</th></tr><tr><td>1</td></tr></table>';
  const bytes = writeEpub(
    'A book',
    [`<h1>One</h1>${table}<p>After.</p>`, '<h1>Two</h1><p>caf&#233;</p>', '<h1>Three</h1>'],
    ['c1.xml', 'c2', 'c2.xhtml'],
  );
  const { text, report } = await parser.parse('epub', bytes);
  expect(text).toMatch(/# One\s+Yield by year\s[^]*After\.\s+# Two\s+café\s+# Three/);
  expect(report!.reasons).toEqual([]);
});
