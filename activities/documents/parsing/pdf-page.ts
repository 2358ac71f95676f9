import type { LayoutBlock, LayoutCell, ParsedPage, Rect } from '@llamaindex/liteparse';
import { findMissingText, middleOf, placeOf, toLines } from './pdf-missing-text.js';
import type { MissingLine, ReadRegion } from './pdf-missing-text.js';
import type { SectionKind } from './section.js';

/** A block of a page with what its reader found out about it. */
export interface PageBlock {
  kind: SectionKind | 'heading';
  text: string;
  /** 1 to 6, of a heading. */
  level: number;
  /** Middle of the block from the top, as a part of the page's height; null when it has no box. */
  height: number | null;
}

/** What stands on a page outside of its text: a note that is written on it, a stamp. */
export interface PageNote {
  text: string;
  box: Rect;
}

interface Region extends Omit<PageBlock, 'height'> {
  box: Rect | null;
  table?: LayoutBlock;
}

/** Of the letters on a page: when more are in no block, the blocks are not to be trusted. */
const MAX_MISSING = 0.2;

/**
 * The blocks of a page as Markdown, in reading order. Text that liteparse has in no block is put in its place, rows of
 * a table into the table. Null when the blocks lack so much that the page is to be read in another way.
 */
export function toPageBlocks(page: ParsedPage, notes: readonly PageNote[] = []): PageBlock[] | null {
  const regions = (page.blocks ?? []).flatMap((block): Region[] => {
    const shown = show(block);
    if (shown.text.trim() === '') return [];
    const region = { level: block.level ?? 1, box: block.bbox ?? null, ...shown };
    return [block.kind === 'table' ? { ...region, table: block } : region];
  });
  const { items, letters, missing } = findMissingText(page.textItems, regions.flatMap(readRegions));
  if (missing > letters * MAX_MISSING) return null;
  for (const line of toLines(items)) addLine(regions, line);
  for (const note of notes) addText(regions, note.text, note.box);
  return regions.map(({ kind, text, level, box }) => ({
    kind,
    level,
    text,
    height: box === null ? null : middleOf(box) / page.height,
  }));
}

/** A table's cells each by itself: a number that stands in one row is not that of another. */
function readRegions({ text, box, table }: Region): ReadRegion[] {
  if (table === undefined) return [{ text, box }];
  const cells = [...(table.header ?? []), ...(table.rows ?? []).flat()];
  return cells.map((cell) => ({ text: plain(cell.text), box: cell.bbox ?? null }));
}

function addLine(regions: Region[], line: MissingLine): void {
  const at = regions.findIndex(
    ({ table, box }) => table !== undefined && box !== null && crosses(box, line.box),
  );
  if (at >= 0) {
    const { table } = regions[at]!;
    regions[at] = { ...regions[at]!, text: showTable(withRow(table!, line)), table: withRow(table!, line) };
  } else addText(regions, line.items.map(({ text }) => text).join(' '), line.box);
}

function addText(regions: Region[], text: string, box: Rect): void {
  regions.splice(placeOf(box, regions), 0, { kind: 'text', text, level: 1, box });
}

/** Whether a line stands within a table, or beside one of its rows. */
function crosses(table: Rect, line: Rect): boolean {
  const middle = middleOf(line);
  const near = line.x < table.x + table.width + line.height && table.x < line.x + line.width + line.height;
  return near && middle >= table.y && middle <= table.y + table.height;
}

/** The table with a line of the page in it: in the cells of its row where these are empty, else as a row of its own. */
function withRow(table: LayoutBlock, { items, box }: MissingLine): LayoutBlock {
  const rows = [...(table.header ? [table.header] : []), ...(table.rows ?? [])];
  const width = Math.max(1, ...rows.map((row) => row.length));
  const centres = Array.from({ length: width }, (_, column) => {
    const boxes = rows.flatMap((row) => row[column]?.bbox ?? []).filter((cell) => cell.width > 0);
    return boxes.reduce((sum, cell) => sum + cell.x + cell.width / 2, 0) / Math.max(1, boxes.length);
  });
  const columnOf = ({ x, width: wide }: Rect): number =>
    centres.reduce(
      (best, centre, column) =>
        Math.abs(centre - x - wide / 2) < Math.abs(centres[best]! - x - wide / 2) ? column : best,
      0,
    );
  const cells: LayoutCell[] = Array.from({ length: width }, () => ({ text: '' }));
  for (const item of items) {
    const column = columnOf(item.box);
    const { text } = cells[column]!;
    cells[column] = { text: text === '' ? item.text : `${text} ${item.text}`, bbox: item.box };
  }
  const middleOfRow = (row: readonly LayoutCell[]): number | null => {
    const cell = row.find(({ bbox }) => (bbox?.height ?? 0) > 0)?.bbox;
    return cell === undefined ? null : middleOf(cell);
  };
  const beside = rows.findIndex((row) => {
    const middle = middleOfRow(row);
    return middle !== null && Math.abs(middle - middleOf(box)) < box.height / 2;
  });
  const isFree = (row: readonly LayoutCell[]): boolean =>
    cells.every(({ text }, column) => text === '' || (row[column]?.text ?? '') === '');
  if (beside >= 0 && isFree(rows[beside]!)) {
    rows[beside] = cells.map((cell, column) => (cell.text === '' ? (rows[beside]![column] ?? cell) : cell));
  } else {
    const below = rows.findIndex((row) => (middleOfRow(row) ?? -Infinity) > middleOf(box));
    const first = table.header ? 1 : 0;
    rows.splice(below < 0 ? rows.length : Math.max(first, below), 0, cells);
  }
  return table.header ? { ...table, header: rows[0]!, rows: rows.slice(1) } : { ...table, rows };
}

function show(block: LayoutBlock): { kind: PageBlock['kind']; text: string } {
  const text = block.text ?? '';
  const lines = block.lines?.join('\n') ?? plain(text);
  switch (block.kind) {
    case 'heading':
      return { kind: 'heading', text };
    case 'list_item':
      return {
        kind: 'text',
        text: `${'  '.repeat(Math.max(0, (block.level ?? 1) - 1))}${block.marker ?? '-'} ${plain(text)}`,
      };
    case 'code':
      return { kind: 'code', text: `\`\`\`${block.lang ?? ''}\n${lines}\n\`\`\`` };
    case 'table':
      return { kind: 'table', text: showTable(block) };
    default:
      return { kind: 'text', text: lines };
  }
}

/** liteparse escapes these in paragraphs, list items and cells; words with them would not be found. */
function plain(text: string): string {
  return text.replace(/\\([\\*_])/g, '$1');
}

function showTable(block: LayoutBlock): string {
  const row = (cells: { text: string }[]): string =>
    `| ${cells.map((cell) => plain(cell.text).replace(/\s+/g, ' ').replace(/\|/g, '\\|')).join(' | ')} |`;
  const rows = (block.rows ?? []).map(row);
  if (!block.header) return rows.join('\n');
  return [row(block.header), `|${' --- |'.repeat(block.header.length)}`, ...rows].join('\n');
}

const RIGHT_TO_LEFT =
  /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/gu;
const EAST_ASIAN = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu;
const LETTER_OR_DIGIT = /[\p{L}\p{N}]/gu;

/**
 * Whether liteparse is known to read a page of such scripts wrongly: right-to-left words come reversed, and digits go
 * wrong beside East Asian fonts that are not embedded.
 */
export function isReadWrongly(page: ParsedPage): boolean {
  const letters = count(page.text, LETTER_OR_DIGIT);
  if (letters === 0) return false;
  const rightToLeft = count(page.text, RIGHT_TO_LEFT) > letters * 0.05;
  return rightToLeft || count(page.text, EAST_ASIAN) > letters * 0.1;
}

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}
