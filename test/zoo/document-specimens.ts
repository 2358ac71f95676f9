import { readFile } from 'node:fs/promises';
import { utils, write } from '@e965/xlsx';
import type { BookType } from '@e965/xlsx';
import { writeDoc } from '../support/documents/write-doc.js';
import { writeDocx, writeDocxBomb } from '../support/documents/write-docx.js';
import { writeEpub, writeOpenDocument, writePptx } from '../support/documents/write-office.js';
import { samplePages } from '../support/documents/sample-pages.js';
import { samplePixels, samplePng } from '../support/documents/sample-picture.js';
import { writePdf } from '../support/documents/write-pdf.js';
import { writeRawPdf } from '../support/documents/write-raw-pdf.js';
import { writeZip } from '../support/documents/write-zip.js';
import { ALL_SCRIPTS, SCRIPTS, cut } from './specimen.js';
import type { Specimen } from './specimen.js';

const EMPTY = { code: 'NO_INDEXABLE_CONTENT' } as const;
const CORRUPT = { code: 'FILE_CORRUPT' } as const;
const TOO_COMPLEX = { code: 'FILE_TOO_COMPLEX' } as const;
const NOT_THIS = { code: 'UNSUPPORTED_MEDIA_TYPE' } as const;

function book(sheets: Record<string, unknown[][]>, bookType: BookType): Buffer {
  const workbook = utils.book_new();
  for (const [name, rows] of Object.entries(sheets))
    utils.book_append_sheet(workbook, utils.aoa_to_sheet(rows), name);
  return write(workbook, { bookType, type: 'buffer' }) as Buffer;
}

/** A package of today with a password stands in a container of Office 97 to 2003. */
function encryptedPackage(): Buffer {
  return Buffer.concat([
    Buffer.from('d0cf11e0a1b11ae1', 'hex'),
    Buffer.alloc(1024),
    Buffer.from('EncryptedPackage', 'utf16le'),
  ]);
}

/** One line of PDF text whose codes mean these characters. */
function mappedPdf(text: string): Buffer {
  const characters = [...new Set(text)];
  const code = (character: string): string =>
    (0x21 + characters.indexOf(character)).toString(16).padStart(2, '0');
  const hex = (character: string): string => Buffer.from(character, 'utf16le').swap16().toString('hex');
  const toUnicode =
    '/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def /CMapType 2 def ' +
    `1 begincodespacerange <00> <ff> endcodespacerange ${characters.length} beginbfchar ` +
    `${characters.map((character) => `<${code(character)}> <${hex(character)}>`).join(' ')} endbfchar endcmap end end`;
  const line = `BT /F2 11 Tf 60 700 Td <${[...text].map(code).join('')}> Tj ET`;
  return writeRawPdf({ contents: [line], toUnicode });
}

function page(...lines: string[]): Buffer {
  return writePdf([lines.map((text) => ({ text }))]);
}

const PDF: Specimen[] = [
  {
    name: 'good.pdf',
    bytes: () => writePdf(samplePages(3)),
    expected: {
      finds: ['Line 5 on page 1 speaks of brushes and soap', 'Line 5 on page 3 speaks of brushes and soap'],
    },
  },
  { name: 'no-text.pdf', bytes: () => writePdf([[]]), expected: EMPTY },
  { name: 'header-alone.pdf', bytes: () => '%PDF-1.7\n', expected: CORRUPT },
  { name: 'empty.pdf', bytes: () => '', expected: NOT_THIS },
  {
    name: 'cut-off.pdf',
    bytes: () => cut(writePdf(samplePages(3)), 0.5),
    expected: { finds: ['Line 5 on page 1 speaks of brushes and soap'], degraded: true },
  },
  {
    name: 'bytes-before-it.pdf',
    bytes: () => Buffer.concat([Buffer.alloc(700, 0x20), page('Behind the blanks.')]),
    expected: { finds: ['Behind the blanks.'] },
  },
  {
    name: 'with-password.pdf',
    bytes: () => writePdf([[{ text: 'Secret.' }]], { userPassword: 'open' }),
    expected: { code: 'FILE_ENCRYPTED' },
  },
  {
    name: 'with-owner-password-alone.pdf',
    bytes: () => writePdf([[{ text: 'Everybody may read it.' }]], { userPassword: '' }),
    expected: { finds: ['Everybody may read it.'] },
  },
  {
    name: 'really-a-docx.pdf',
    bytes: () => writeDocx([{ paragraph: 'words' }]),
    expected: NOT_THIS,
  },
  { name: 'chinese.pdf', bytes: () => mappedPdf(SCRIPTS.chinese), expected: { finds: [SCRIPTS.chinese] } },
  { name: 'japanese.pdf', bytes: () => mappedPdf(SCRIPTS.japanese), expected: { finds: [SCRIPTS.japanese] } },
  {
    name: 'right-to-left.pdf',
    // As it is drawn: from left to right.
    bytes: () => mappedPdf([...SCRIPTS.hebrew].reverse().join('')),
    expected: { finds: ['טחנת', 'המים', 'הנהר'] },
  },
  { name: 'beyond-u-ffff.pdf', bytes: () => mappedPdf('wheel 🏭🌊𝔸'), expected: { finds: ['🏭🌊𝔸'] } },
  {
    name: 'signs-of-markdown.pdf',
    bytes: () => page('The CUSTOMER_TAX_ID times *two* stands here.'),
    expected: { finds: ['CUSTOMER_TAX_ID times *two*'] },
  },
  {
    name: 'endless-form.pdf',
    bytes: () => writePdf([[{ text: 'Before the endless form.' }]], { selfRecursiveForm: true }),
    expected: TOO_COMPLEX,
    huge: true,
  },
  {
    name: 'looped-page-tree.pdf',
    bytes: () =>
      Buffer.from(
        '%PDF-1.4\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n2 0 obj\n<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 2000000 >>\nendobj\n' +
          'xref\n0 3\n0000000000 65535 f \n0000000009 00000 n \n0000000058 00000 n \ntrailer\n<< /Size 3 /Root 1 0 R >>\nstartxref\n125\n%%EOF\n',
      ),
    expected: CORRUPT,
  },
  {
    name: 'javascript-and-links.pdf',
    bytes: () =>
      writeRawPdf({
        contents: ['BT /F1 11 Tf 60 700 Td (Words beside a script.) Tj ET'],
        annotations: [
          { dictionary: '/Subtype /Link /Rect [0 0 9 9] /A << /S /JavaScript /JS (app.alert\\(1\\)) >>' },
          { dictionary: '/Subtype /Link /Rect [0 0 9 9] /A << /S /URI /URI (http://127.0.0.1:1/x) >>' },
          { dictionary: '/Subtype /Link /Rect [0 0 9 9] /A << /S /Launch /F (/bin/sh) >>' },
        ],
      }),
    expected: { finds: ['Words beside a script.'] },
  },
  {
    name: 'a-picture-of-a-billion-pixels.pdf',
    bytes: () =>
      writePdf([[{ text: 'Words beside a picture.' }]], {
        pictures: [
          { width: 50_000, height: 50_000, pixels: samplePixels(10, 10, 9), page: 0, x: 9, y: 9, side: 90 },
        ],
      }),
    expected: { finds: ['Words beside a picture.'] },
  },
  {
    name: 'four-thousand-pages.pdf',
    bytes: () => writePdf(samplePages(4000)),
    expected: { finds: ['Line 5 on page 4000 speaks of brushes and soap'] },
    huge: true,
  },
];

const WORD: Specimen[] = [
  {
    name: 'good.docx',
    bytes: () =>
      writeDocx([
        { heading: SCRIPTS.accents, level: 1 },
        ...ALL_SCRIPTS.map((paragraph) => ({ paragraph })),
        {
          table: [
            ['grain', 'price'],
            ['rye', 'four'],
          ],
        },
      ]),
    expected: { finds: [...ALL_SCRIPTS, '| rye | four |'] },
  },
  { name: 'empty.docx', bytes: () => writeDocx([]), expected: EMPTY },
  { name: 'no-bytes.docx', bytes: () => '', expected: NOT_THIS },
  { name: 'cut-off.docx', bytes: () => cut(writeDocx([{ paragraph: 'words' }]), 0.6), expected: NOT_THIS },
  { name: 'with-password.docx', bytes: encryptedPackage, expected: NOT_THIS },
  { name: 'really-a-page.docx', bytes: () => '<html>words</html>', expected: NOT_THIS },
  {
    name: 'main-part-of-another-name.docx',
    bytes: () => writeDocx([{ paragraph: 'Office 365 wrote this.' }], [], 'word/document2.xml'),
    expected: { finds: ['Office 365 wrote this.'] },
  },
  {
    name: 'broken-heading.docx',
    bytes: () =>
      writeDocx([
        {
          xml: '<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>The mill</w:t><w:br/><w:t>of Łódź</w:t></w:r></w:p>',
        },
        { paragraph: 'Text.' },
      ]),
    expected: { finds: ['The mill of Łódź', 'Text.'] },
  },
  {
    name: 'damaged-list-of-types.docx',
    bytes: () => {
      const bytes = writeDocx([{ paragraph: 'words' }]);
      // The first member is the list; its name ends where its packed bytes begin.
      const start = bytes.indexOf('[Content_Types].xml') + '[Content_Types].xml'.length;
      return bytes.fill(0xff, start, start + 16);
    },
    expected: NOT_THIS,
  },
  { name: 'bomb.docx', bytes: () => writeDocxBomb(700_000_000), expected: TOO_COMPLEX, huge: true },
  { name: 'markup-bomb.docx', bytes: () => writeDocxBomb(110_000_000), expected: TOO_COMPLEX },
  {
    name: 'macros-and-templates.docx',
    bytes: () =>
      writeDocx(
        [{ paragraph: 'Words beside a macro.' }],
        [
          { name: 'word/vbaProject.bin', content: Buffer.from('Attribute VB_Name = "AutoOpen macro"') },
          {
            name: 'word/_rels/settings.xml.rels',
            content:
              '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="t" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/attachedTemplate" Target="http://127.0.0.1:1/evil.dotm" TargetMode="External"/></Relationships>',
          },
        ],
      ),
    expected: { finds: ['Words beside a macro.'], not: ['AutoOpen'] },
  },
  {
    name: 'entity-bomb.docx',
    bytes: () =>
      writeDocx(
        [{ paragraph: 'words' }],
        [
          {
            name: 'word/comments.xml',
            content:
              '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]><w:comments xmlns:w="x"><w:p>&b;</w:p></w:comments>',
          },
        ],
      ),
    expected: CORRUPT,
  },
  {
    name: 'path-tricks.docx',
    bytes: () =>
      writeDocx(
        [{ paragraph: 'Words beside a path.' }],
        [{ name: 'word/media/../../../../tmp/evil.png', content: samplePng(3) }],
      ),
    expected: CORRUPT,
  },
  {
    name: 'good.doc',
    bytes: () => writeDoc(`The old mill\r${ALL_SCRIPTS.join('\r')}`, 'Not in winter.'),
    expected: { finds: ['The old mill', SCRIPTS.hebrew, SCRIPTS.japanese, 'Not in winter.'] },
  },
  { name: 'empty.doc', bytes: () => writeDoc(''), expected: EMPTY },
  { name: 'cut-off.doc', bytes: () => cut(writeDoc('words '.repeat(1000)), 0.2), expected: CORRUPT },
  { name: 'really-a-page.doc', bytes: () => '<html>words</html>', expected: NOT_THIS },
  {
    name: 'really-todays.doc',
    bytes: () => writeDocx([{ paragraph: 'Old name, new content.' }]),
    expected: { finds: ['Old name, new content.'] },
  },
  {
    name: 'good.rtf',
    bytes: () => String.raw`{\rtf1\ansi\ansicpg1252{\pard Soci\'e9t\'e9 du moulin, \u26481?\u20140?.\par}}`,
    expected: { finds: ['Société du moulin, 東京.'] },
    libreOffice: true,
  },
  { name: 'really-text.rtf', bytes: () => 'No RTF at all.', expected: NOT_THIS },
  {
    name: 'nested-fifty-thousand-deep.rtf',
    bytes: () => `{\\rtf1 Before.${'{'.repeat(50_000)}x${'}'.repeat(50_000)}}`,
    // Some versions of LibreOffice end on it.
    expected: { finds: ['Before.'], or: 'FILE_CORRUPT' },
    libreOffice: true,
    huge: true,
  },
];

const SLIDES_AND_BOOKS: Specimen[] = [
  {
    name: 'good.pptx',
    bytes: () =>
      writePptx([
        { title: SCRIPTS.accents, lines: ALL_SCRIPTS, notes: 'Wait for the laughter.' },
        {
          title: 'Numbers',
          table: [
            ['grain', 'kg'],
            ['rye', '12'],
          ],
        },
      ]),
    expected: { finds: [...ALL_SCRIPTS, 'Wait for the laughter.', '| rye | 12 |'] },
  },
  {
    // By LibreOffice, since what `writePptx` writes has no layouts and is read by lenient readers alone.
    name: 'by-impress.pptx',
    bytes: () => readFile(new URL('./files/by-impress.pptx', import.meta.url)),
    expected: {
      finds: [
        'It turns from spring to autumn',
        SCRIPTS.accents,
        'Grease the axle every month.',
        'Wait for the laughter.',
        '| rye | twelve |',
      ],
    },
  },
  { name: 'empty.pptx', bytes: () => writePptx([]), expected: EMPTY },
  { name: 'cut-off.pptx', bytes: () => cut(writePptx([{ title: 'words' }]), 0.5), expected: NOT_THIS },
  { name: 'with-password.pptx', bytes: encryptedPackage, expected: { code: 'FILE_ENCRYPTED' } },
  {
    name: 'bomb.pptx',
    bytes: () =>
      writePptx(
        [{ title: 'words' }],
        [{ name: 'ppt/slides/slide9.xml', content: Buffer.alloc(120_000_000, 32) }],
      ),
    expected: TOO_COMPLEX,
  },
  { name: 'really-a-docx.pptx', bytes: () => writeDocx([{ paragraph: 'words' }]), expected: NOT_THIS },
  {
    name: 'good.odt',
    bytes: () =>
      writeOpenDocument(
        'text',
        `<text:h text:outline-level="1">The mill</text:h>${ALL_SCRIPTS.map((text) => `<text:p>${text}</text:p>`).join('')}`,
      ),
    expected: { finds: ['The mill', ...ALL_SCRIPTS] },
  },
  { name: 'empty.odt', bytes: () => writeOpenDocument('text', ''), expected: EMPTY },
  {
    name: 'broken-markup.odt',
    bytes: () => writeOpenDocument('text', '<text:p>words</text:h>'),
    expected: CORRUPT,
  },
  {
    name: 'good.odp',
    bytes: () =>
      writeOpenDocument(
        'presentation',
        `<draw:page draw:name="one"><draw:frame><draw:text-box><text:p>${SCRIPTS.japanese}</text:p></draw:text-box></draw:frame></draw:page>`,
      ),
    expected: { finds: [SCRIPTS.japanese] },
  },
  {
    name: 'good.epub',
    bytes: () =>
      writeEpub('The mill', [`<h1>One</h1><p>${SCRIPTS.arabic}</p>`, `<h1>Two</h1><p>${SCRIPTS.emoji}</p>`]),
    expected: { finds: [SCRIPTS.arabic, SCRIPTS.emoji] },
  },
  {
    name: 'without-its-container.epub',
    bytes: () => writeZip([{ name: 'mimetype', content: 'application/epub+zip' }]),
    expected: NOT_THIS,
  },
  {
    name: 'chapters-that-lie-elsewhere.epub',
    bytes: () =>
      writeZip([
        { name: 'mimetype', content: 'application/epub+zip' },
        {
          name: 'META-INF/container.xml',
          content:
            '<?xml version="1.0"?><container><rootfiles><rootfile full-path="../../../../etc/passwd"/></rootfiles></container>',
        },
        { name: 'chapter.xhtml', content: '<html><body><p>The only chapter.</p></body></html>' },
      ]),
    expected: CORRUPT,
  },
];

const ROWS = [
  ['grain', 'price'],
  [SCRIPTS.accents, 1.5],
  [SCRIPTS.japanese, 2],
  [SCRIPTS.hebrew, 3],
  [SCRIPTS.emoji, 4],
];
const IN_ROWS = [SCRIPTS.accents, SCRIPTS.japanese, SCRIPTS.hebrew, SCRIPTS.emoji];

const WORKBOOKS: Specimen[] = [
  {
    name: 'good.xlsx',
    bytes: () => book({ Prices: ROWS }, 'xlsx'),
    expected: { finds: ['# Prices', ...IN_ROWS] },
  },
  {
    name: 'good.xls',
    bytes: () => book({ Prices: ROWS }, 'biff8'),
    expected: { finds: ['# Prices', ...IN_ROWS] },
  },
  {
    name: 'good.ods',
    bytes: () => book({ Prices: ROWS }, 'ods'),
    expected: { finds: ['# Prices', ...IN_ROWS] },
  },
  { name: 'empty.xlsx', bytes: () => book({ One: [] }, 'xlsx'), expected: EMPTY },
  { name: 'cut-off.xlsx', bytes: () => cut(book({ One: ROWS }, 'xlsx'), 0.6), expected: NOT_THIS },
  { name: 'cut-off.xls', bytes: () => cut(book({ One: ROWS }, 'biff8'), 0.2), expected: CORRUPT },
  { name: 'with-password.xlsx', bytes: encryptedPackage, expected: { code: 'FILE_ENCRYPTED' } },
  { name: 'really-text.xls', bytes: () => 'grain,price\nrye,1\n', expected: NOT_THIS },
  {
    name: 'a-cell-in-the-last-column.xlsx',
    bytes: () => {
      const sheet = utils.aoa_to_sheet([['first needle']]);
      sheet['XFD3'] = { t: 's', v: 'last needle' };
      sheet['!ref'] = 'A1:XFD3';
      const workbook = utils.book_new();
      utils.book_append_sheet(workbook, sheet, 'Wide');
      return write(workbook, { bookType: 'xlsx', type: 'buffer' }) as Buffer;
    },
    expected: { finds: ['first needle', 'last needle'] },
  },
  {
    name: 'formulas-and-links.xlsx',
    bytes: () => {
      const sheet = utils.aoa_to_sheet([['total'], [3]]);
      sheet['A2'] = { t: 'n', v: 3, f: 'WEBSERVICE("http://127.0.0.1:1/x")' };
      const workbook = utils.book_new();
      utils.book_append_sheet(workbook, sheet, 'Sums');
      return write(workbook, { bookType: 'xlsx', type: 'buffer' }) as Buffer;
    },
    expected: { finds: ['total', '3'], not: ['WEBSERVICE'] },
  },
];

/** PDF, text processing, presentations, books and workbooks. */
export const DOCUMENT_SPECIMENS: Specimen[] = [...PDF, ...WORD, ...SLIDES_AND_BOOKS, ...WORKBOOKS];
