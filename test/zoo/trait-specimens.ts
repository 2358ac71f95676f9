import { writeDocx } from '../support/documents/write-docx.js';
import { writeRawPdf } from '../support/documents/write-raw-pdf.js';
import type { Specimen } from './specimen.js';

/** Traits of real documents for which text was lost, words were glued together or the whole file was refused. */

function run(...content: string[]): string {
  return `<w:p>${content.map((c) => `<w:r>${c}</w:r>`).join('')}</w:p>`;
}

function text(value: string): string {
  return `<w:t xml:space="preserve">${value}</w:t>`;
}

function fieldsReadingsEquations(): Buffer {
  const field = `<w:p><w:r>${text('Due on ')}</w:r><w:fldSimple w:instr=" DATE "><w:r>${text('1 May')}</w:r></w:fldSimple></w:p>`;
  const ruby = `<w:p><w:r><w:ruby><w:rubyPr/><w:rt><w:r>${text('とうきょう')}</w:r></w:rt><w:rubyBase><w:r>${text('東京')}</w:r></w:rubyBase></w:ruby></w:r></w:p>`;
  const r = (value: string): string => `<m:r><m:t>${value}</m:t></m:r>`;
  const square = `<m:sSup><m:e>${r('x')}</m:e><m:sup>${r('2')}</m:sup></m:sSup>`;
  const root = `<m:rad><m:radPr><m:degHide m:val="1"/></m:radPr><m:deg/><m:e>${r('a+b')}</m:e></m:rad>`;
  const equation = `<w:p><m:oMathPara><m:oMath>${r('y=')}<m:f><m:num>${square}</m:num><m:den>${root}</m:den></m:f></m:oMath></m:oMathPara></w:p>`;
  return writeDocx([{ xml: field + ruby + equation }]);
}

function headersFootersComments(): Buffer {
  const wrap = (name: string, body: string): string => `<w:${name} xmlns:w="w">${body}</w:${name}>`;
  const type = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
  const relationships = ['header', 'footer', 'comments']
    .map((name) => `<Relationship Id="x${name}" Type="${type}/${name}" Target="${name}9.xml"/>`)
    .join('');
  const comment = `<w:comment w:id="0" w:author="Ada">${run(text('Is this &amp; that so?'))}</w:comment>`;
  return writeDocx(
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
}

function paragraphsOfACell(): Buffer {
  const cell = `<w:tc>${run(text('inspected'))}${run(text('approved'))}${run(text('signed'))}</w:tc>`;
  return writeDocx([{ xml: `<w:tbl><w:tr>${cell}</w:tr></w:tbl>` }]);
}

/** A line of text at a place (points from the lower left corner). */
function at(x: number, y: number, value: string): string {
  return `BT /F1 11 Tf ${x} ${y} Td (${value}) Tj ET `;
}

function turnedText(): Buffer {
  const body = Array.from({ length: 12 }, (_, i) =>
    at(60, 700 - i * 15, `Line ${i} of a page that is read.`),
  );
  const turned = 'BT /F1 11 Tf 0 1 -1 0 500 500 Tm (turned label) Tj ET ';
  return writeRawPdf({ contents: [body.join('') + turned] });
}

function kernedWords(): Buffer {
  const kerned = 'BT /F1 11 Tf 60 700 Td [(The dec) -150 (larations of the poets are signed by)] TJ ET ';
  const tight =
    'BT /F1 11 Tf 60 680 Td [(so these words) -150 (for all of them are the words for it)] TJ ET ';
  return writeRawPdf({ contents: [kerned + tight] });
}

function notesAndStamps(): Buffer {
  const annotations = [
    { dictionary: '/Subtype /FreeText /Rect [60 600 260 640] /Contents (Checked by Ada)' },
    {
      dictionary: '/Subtype /Stamp /Rect [60 500 260 540]',
      appearance: 'BT /F1 11 Tf 5 10 Td (APPROVED 2026) Tj ET',
    },
    { dictionary: '/Subtype /Text /Rect [60 300 80 320] /Contents (a private remark)' },
  ];
  const contents = [at(60, 700, 'Body above') + at(60, 400, 'Body below')];
  return writeRawPdf({ contents, annotations });
}

const ARTICLE = `<body><header>Banner of the site</header><form action="/"><p>The whole page stands in a form.</p></form>
      <article><header><h1>Title of the article</h1><p>By the author</p></header><p>Body</p>
      <footer>Sources of the article</footer></article><footer>Imprint</footer></body>`;
const NOTES = 'The sluice was opened at nine.';

export const TRAIT_SPECIMENS = [
  {
    name: 'form-and-header-of-an-article.html',
    bytes: () => ARTICLE,
    expected: {
      finds: ['The whole page stands in a form.', 'Title of the article', 'By the author', 'Sources of the'],
      not: ['Banner', 'Imprint'],
    },
  },
  {
    name: 'paragraphs-of-a-cell.html',
    bytes: () =>
      '<table><tr><th>State</th><th>By</th></tr><tr><td><p>inspected</p><p>approved</p>signed<br>sealed</td>' +
      '<td><ul><li>Ada</li><li>Bob</li></ul><table><tr><td>in<td>side</table></td></tr></table>',
    expected: { finds: ['| inspected approved signed sealed | Ada Bob in side |'] },
  },
  {
    name: 'paragraphs-of-a-cell.docx',
    bytes: paragraphsOfACell,
    expected: { finds: ['| inspected approved signed |'] },
  },
  {
    name: 'fields-readings-equations.docx',
    bytes: fieldsReadingsEquations,
    expected: { finds: ['Due on 1 May', '東京(とうきょう)', 'y=(x^2)/(√(a+b))'] },
  },
  {
    name: 'headers-footers-comments.docx',
    bytes: headersFootersComments,
    expected: {
      finds: ['The body.', 'Mill of the North', 'Confidential', 'Comment by Ada: Is this & that so?'],
    },
  },
  {
    name: 'turned-text.pdf',
    bytes: turnedText,
    expected: { finds: ['turned label', 'Line 11 of a page'] },
  },
  {
    name: 'kerned-words.pdf',
    bytes: kernedWords,
    misread: true,
    expected: { finds: ['The declarations of the poets', 'so these words for all of them'] },
  },
  {
    name: 'notes-and-stamps.pdf',
    bytes: notesAndStamps,
    expected: {
      finds: ['Body above', 'Checked by Ada', 'APPROVED 2026', 'Body below'],
      not: ['a private remark'],
    },
  },
  ...['markdown', 'text', 'log'].map((extension) => ({
    name: `notes.${extension}`,
    bytes: () => NOTES,
    expected: { finds: [NOTES] },
  })),
  {
    name: 'notes.xhtml',
    bytes: () =>
      `<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><body><p>${NOTES}</p></body></html>`,
    expected: { finds: [NOTES] },
  },
] satisfies Specimen[];

/** The bytes of one by its name. */
export function traitBytes(name: string): Buffer | string {
  const specimen = TRAIT_SPECIMENS.find((one) => one.name === name);
  if (specimen === undefined) throw new Error(`no such file: ${name}`);
  return specimen.bytes();
}
