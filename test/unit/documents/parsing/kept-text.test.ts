/** Traits of real documents of which text was lost, or for which the whole file was refused. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { FileKind } from '../../../../activities/documents/parsing/file-types.js';
import { openBytesParser } from '../../../support/documents/parse-bytes.js';
import type { BytesParser } from '../../../support/documents/parse-bytes.js';
import { writeDocx } from '../../../support/documents/write-docx.js';

let parser: BytesParser;
beforeAll(async () => {
  parser = await openBytesParser();
});
afterAll(() => parser.close());

const run = (...content: string[]): string => `<w:p>${content.map((c) => `<w:r>${c}</w:r>`).join('')}</w:p>`;
const text = (value: string): string => `<w:t xml:space="preserve">${value}</w:t>`;

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

describe('a fault', () => {
  it('of our own code is not called the file’s', async () => {
    const failure: unknown = await parser.parse('none' as FileKind, 'text').catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'PARSER_INTERNAL_ERROR', retryable: true, details: {} });
    expect((failure as Error).message).not.toMatch(/undefined|TypeError/);
  });
});
