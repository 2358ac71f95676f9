import { describe, expect, it } from '@jest/globals';
import type { LayoutBlock, ParsedPage, TextItem } from '@llamaindex/liteparse';
import { toPageBlocks } from '../../../../activities/documents/parsing/pdf-page.js';

function item(text: string, x: number, y: number): TextItem {
  return {
    text,
    x,
    y,
    width: text.length * 6,
    height: 10,
  };
}

function cell(text: string, x: number, y: number) {
  return {
    text,
    bbox: { x, y, width: text.length * 6, height: 10 },
  };
}

function paragraph(text: string, x: number, y: number): LayoutBlock {
  return {
    kind: 'paragraph',
    text,
    bbox: { x, y, width: text.length * 6, height: 10 },
  };
}

function page(blocks: LayoutBlock[], textItems: TextItem[]): ParsedPage {
  return {
    pageNum: 1,
    width: 600,
    height: 800,
    markdown: '',
    blocks,
    textItems,
    text: textItems.map(({ text }) => text).join('\n'),
  };
}

function read(blocks: LayoutBlock[], items: TextItem[]) {
  return toPageBlocks(page(blocks, items))?.map(({ text }) => text) ?? null;
}

describe('a page', () => {
  const words = 'a long enough text of the page, which its reader has understood';
  const above = paragraph(`${words} above`, 60, 100);
  const below = paragraph(`${words} below`, 60, 500);
  const frame = [item(`${words} above`, 60, 100), item(`${words} below`, 60, 500)];
  const rows = [
    [cell('Wages', 60, 200), cell('400', 200, 200), cell('410', 300, 200)],
    [cell('Rents', 60, 240), cell('400', 200, 240), cell('420', 300, 240)],
  ];
  const table: LayoutBlock = { kind: 'table', rows, bbox: { x: 60, y: 200, width: 260, height: 50 } };
  const inTable = rows.flat().map(({ text, bbox }) => item(text, bbox.x, bbox.y));

  it('has its blocks as they are when nothing is missing', () => {
    expect(read([above, table, below], [...frame, ...inTable])).toEqual([
      `${words} above`,
      '| Wages | 400 | 410 |\n| Rents | 400 | 420 |',
      `${words} below`,
    ]);
  });

  it('gets a row of a table that is in no block, though its numbers are elsewhere', () => {
    const row = [item('Fuel', 60, 220), item('400', 200, 220), item('30', 300, 220)];
    expect(read([above, table, below], [...frame, ...inTable, ...row])?.[1]).toBe(
      '| Wages | 400 | 410 |\n| Fuel | 400 | 30 |\n| Rents | 400 | 420 |',
    );
  });

  it('gets the number that an empty cell lacks', () => {
    const holed = { ...table, rows: [rows[0]!, [rows[1]![0]!, { text: '' }, rows[1]![2]!]] };
    expect(read([above, holed, below], [...frame, ...inTable])?.[1]).toBe(
      '| Wages | 400 | 410 |\n| Rents | 400 | 420 |',
    );
  });

  it('gets a line between the blocks that it stands between', () => {
    expect(read([above, below], [...frame, item('a lost line', 60, 300)])).toEqual([
      `${words} above`,
      'a lost line',
      `${words} below`,
    ]);
  });

  it('does not repeat words that a block joined at a line’s end', () => {
    const joined = paragraph('the whole community of the mill', 60, 300);
    const items = [...frame, item('the whole com-', 60, 300), item('munity of the mill', 60, 305)];
    expect(read([above, joined, below], items)).toHaveLength(3);
  });

  it('may have tens of thousands of cells', () => {
    const many = Array.from({ length: 400 }, (_, y) =>
      Array.from({ length: 100 }, (_unused, x) => cell(`n${y}x${x}`, x * 50, y * 12)),
    );
    const items = many.flat().map(({ text, bbox }) => item(text, bbox.x, bbox.y));
    const box = { x: 0, y: 0, width: 5100, height: 4810 };
    const began = performance.now();
    const blocks = read([{ kind: 'table', rows: many, bbox: box }], [...items, item('more', 0, 4900)]);
    expect(blocks?.at(-1)).toBe('more');
    // Each with each took 7 s.
    expect(performance.now() - began).toBeLessThan(5000);
  });

  it('is not trusted when a fifth is missing', () => {
    expect(read([above], [...frame])).toBeNull();
  });
});
