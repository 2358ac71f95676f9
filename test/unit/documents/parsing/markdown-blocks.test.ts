import { describe, expect, it } from '@jest/globals';
import remarkGfm from 'remark-gfm';
import remarkParse from 'remark-parse';
import { unified } from 'unified';
import { readMarkdownBlocks } from '../../../../activities/documents/parsing/markdown-blocks.js';
import type { MarkdownBlock } from '../../../../activities/documents/parsing/markdown-blocks.js';
import { toLines } from '../../../../activities/documents/parsing/text-lines.js';

async function read(text: string): Promise<MarkdownBlock[]> {
  const fragments = async function* () {
    yield* text.match(/[^]{1,7}/g) ?? [];
  };
  const blocks: MarkdownBlock[] = [];
  for await (const block of readMarkdownBlocks(toLines(fragments()))) blocks.push(block);
  return blocks;
}

const reader = unified().use(remarkParse).use(remarkGfm);

/** Headings, tables and fenced code as remark finds them at the top level: kind, level, source. */
function remarkBlocks(text: string): unknown[] {
  return reader.parse(text).children.flatMap((node): unknown[] => {
    const { start, end } = node.position!;
    const source = text.slice(start.offset, end.offset).trim();
    if (node.type === 'heading') return [['heading', node.depth, source]];
    if (node.type === 'table') return [['table', undefined, source]];
    return node.type === 'code' && /^[`~]/.test(source) ? [['code', undefined, source]] : [];
  });
}

const SAMPLES: Record<string, string> = {
  'both kinds of headings': '# A\ntext\n\nB\n===\n\nC\n---\ntext\n\n### D ###\n',
  'rules that are no headings': 'a\n\n---\n\nb\n\n***\n- item\n---\n> quote\n---\n',
  'code that looks like headings': '```sh\n# no heading\n```\n~~~\n# nor this\n```\n~~~\n# heading\n',
  'indented code': 'text\n\n    # no heading\n\n#no heading\n\n ## heading\n',
  tables: 'text\n| a | b |\n|---|:-:|\n| 1 | 2 |\n| 3 |\nafter? | x |\n\nplain | text\n\n# H\n',
  'no tables': '| a | b |\n|---|\n\na | b\n\n--- | ---\n',
  'a table before a heading': 'a | b\n--|--\n1 | 2\n# H\n',
  'html comments': '<!-- \n# no heading\n-->\n# heading\n<!-- one line -->\n\n## two\n',
  'an unclosed fence': '# A\n```\n# no heading\n\ntext',
  'nested fences': '````md\n```\n# no\n```\n````\n# yes\n',
  'escaped pipes': '| a \\| b | c |\n|---|---|\n| 1 | 2 |\n',
  'two lines over a setext line': 'two\nlines\n===\ntext\n',
  nothing: '\n\n\n',
};

describe('Markdown blocks', () => {
  it.each(Object.entries(SAMPLES))('sees %s as remark does', async (_, text) => {
    const special = (await read(text)).filter((block) => block.kind !== 'text');
    expect(special.map((b) => [b.kind, b.level, b.text.trim()])).toEqual(remarkBlocks(text));
  });

  it.each(Object.entries(SAMPLES))('gives back the whole source of %s', async (_, text) => {
    const blocks = await read(text);
    expect(
      blocks
        .map((b) => b.text)
        .join('')
        .replace(/\s+/g, ''),
    ).toBe(text.replace(/\s+/g, ''));
    for (const block of blocks) expect(text.startsWith(block.text, block.charStart)).toBe(true);
  });

  it('takes front matter for text', async () => {
    const [first, second] = await read('---\ntitle: x\n---\n# H\n');
    expect(first).toMatchObject({ kind: 'text', text: '---\ntitle: x\n---\n' });
    expect(second).toMatchObject({ kind: 'heading', level: 1 });
  });

  it.each([
    ['quotes', '>'.repeat(300_000)],
    ['brackets', '['.repeat(300_000)],
    ['empty list items', 'a\n-\n'.repeat(100_000)],
    ['table rows', `| a | b |\n|---|---|\n${'| 1 | 2 |\n'.repeat(100_000)}`],
    ['pipes', `${'|'.repeat(300_000)}\n|-|\n`],
    ['dashes', `a\n${'-'.repeat(300_000)} x\n`],
    ['cells in a delimiter row', `a|b\n${'-|'.repeat(100_000)}x\n`],
  ])('takes many %s in linear time', async (_, text) => {
    await read(text);
    // Not linear would not end within the time limit of the test.
  });
});
