import { expect, test } from '@jest/globals';
import { loadWeb } from '../../support/load-web.js';

interface Node {
  type: string;
  value?: string;
  url?: string;
  children?: Node[];
}

const { linkCitations } = await loadWeb<{
  linkCitations(options: { known: ReadonlySet<number> }): (tree: Node) => void;
}>('pages/documents/chat/link-citations');

/** What is read, links in angle brackets, of an answer with so many sources. */
function shown(text: string, sources = 3): string {
  const known = new Set(Array.from({ length: sources }, (_, index) => index + 1));
  const tree: Node = {
    type: 'root',
    children: [{ type: 'paragraph', children: [{ type: 'text', value: text }] }],
  };
  linkCitations({ known })(tree);
  const read = ({ type, value = '', url, children = [] }: Node): string => {
    const inside = value + children.map(read).join('');
    if (type !== 'link') return inside;
    expect(url).toBe(`#source-${inside}`);
    return `<${inside}>`;
  };
  return read(tree);
}

test.each([
  ['It opens at nine [Source 2].', 'It opens at nine [<2>].'],
  ['At nine [1][3], or ten [2]', 'At nine [<1>][<3>], or ten [<2>]'],
  ['[Source 1, Source 3] say so', '[<1>, <3>] say so'],
  ['[Sources: 1, 2]', '[<1>, <2>]'],
  ['[Source 1 and Source 2]', '[<1>, <2>]'],
  ['[Sources: 1 et 3; 2]', '[<1>, <3>, <2>]'],
  ['[Sources 1-3]', '[<1>–<3>]'],
  ['At nine (Source 2), or ten 【Source 1】', 'At nine (<2>), or ten 【<1>】'],
  ['[Source 1: pump.pdf, page 3]', '[<1>: pump.pdf, page 3]'],
])('a mark of sources becomes links within its brackets: %s', (text, expected) => {
  expect(shown(text)).toBe(expected);
});

test.each([
  'values in [0, 100]',
  'args[0] is the name',
  'see clause [12]',
  'between [1, 4] hours',
  '[Source 7]',
  'within (1) or (2, 3)',
  'at [1-2] bar',
  '[1: see below]',
  '[Source 1)',
])('what names no source of the answer stays as it is written: %s', (text) => {
  expect(shown(text)).toBe(text);
  expect(shown(`${text}, see [2]`)).toBe(`${text}, see [<2>]`);
});

test('an answer without sources stays as it is written', () => {
  expect(shown('At nine [1], [Source 2].', 0)).toBe('At nine [1], [Source 2].');
});
