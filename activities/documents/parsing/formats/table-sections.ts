import type { Section } from '../section.js';
import { beyondLimit } from './limit-error.js';

export interface TableLimits {
  maxRows: number;
  maxColumns: number;
}

/** A section holds so many characters of rows before the next one begins with the header again. */
const SECTION_LENGTH = 64 * 1024;
/** A longer header is not repeated: it would be most of what is indexed. */
const MAX_HEADER = 4096;
/** Among so many rows with text the header is looked for. */
const LOOK_AHEAD = 20;

/**
 * Rows as Markdown tables under their header, in constant memory: each section is a table of its own with the header
 * repeated. The header is the first row, but for titles, which are text in front of the table. A table of one column
 * is text, a line each. Rows without text are left out.
 */
export async function* tableSections(
  rows: AsyncIterable<readonly string[]> | Iterable<readonly string[]>,
  place: Pick<Section, 'headingPath' | 'page'>,
  limits: TableLimits,
): AsyncGenerator<Section> {
  let header: string | null = null;
  let width = 0;
  let lines: string[] = [];
  let length = 0;
  let given = false;
  const take = (): Section => {
    const text = (width > 1 ? header! : '') + lines.join('\n');
    lines = [];
    length = 0;
    return { ...place, kind: width > 1 ? 'table' : 'text', text };
  };
  for await (const found of fromTitles(withText(rows, limits))) {
    if ('titles' in found) {
      yield { ...place, kind: 'text', text: found.titles.map(titleLine).join('\n') };
      continue;
    }
    const { row } = found;
    if (header === null) {
      width = row.length;
      header = `${toLine(row)}\n|${' --- |'.repeat(width)}\n`;
      if (width > 1) continue;
    }
    const line = width > 1 || row.length > 1 ? toLine(row) : cellText(row[0]!);
    lines.push(line);
    length += line.length + 1;
    if (length < SECTION_LENGTH) continue;
    yield take();
    given = true;
    if (width > 1 && header.length > MAX_HEADER) header = '';
  }
  // A header without rows is a table all the same.
  if (header === null || (given && lines.length === 0)) return;
  const last = take();
  if (last.text.trim() !== '') yield { ...last, text: last.text.trimEnd() };
}

async function* withText(
  rows: AsyncIterable<readonly string[]> | Iterable<readonly string[]>,
  limits: TableLimits,
): AsyncGenerator<readonly string[]> {
  let count = 0;
  for await (const row of rows) {
    checkSize(row, ++count, limits);
    if (row.some(hasText)) yield row;
  }
}

type Found = { titles: (readonly string[])[] } | { row: readonly string[] };

/** The rows above a table's header together, then the others one after the other. */
async function* fromTitles(rows: AsyncIterable<readonly string[]>): AsyncGenerator<Found> {
  let head: (readonly string[])[] | null = [];
  for await (const row of rows) {
    if (head === null) yield { row };
    else if (head.push(row) >= LOOK_AHEAD) {
      yield* splitTitles(head);
      head = null;
    }
  }
  if (head !== null) yield* splitTitles(head);
}

function* splitTitles(head: (readonly string[])[]): Generator<Found> {
  const filled = head.map((row) => row.filter(hasText).length);
  // What two rows have is the width of a table; a single one may have a remark beside it.
  const width = [...filled].sort((a, b) => b - a)[1] ?? 0;
  const isNarrow = (count: number): boolean => 2 * count < width;
  /** Names of the first columns alone, above the first record. */
  const isShortHeader = (count: number, i: number): boolean =>
    count > 1 && filled[i + 1] !== undefined && !isNarrow(filled[i + 1]!) && head[i + 1]!.some(isNumber);
  const isTitle = (count: number, i: number): boolean =>
    (isNarrow(count) && !namesGroups(head[i]!, count) && !isShortHeader(count, i)) ||
    (width === 2 && head[i]!.length === 1 && filled.indexOf(2) === i + 1);
  const titles = filled.findIndex((count, i) => !isTitle(count, i));
  if (titles > 0) yield { titles: head.slice(0, titles) };
  for (const row of head.slice(titles)) yield { row };
}

/** Titles stand in the first cells or in one; years above their quarters leave cells empty between them. */
function namesGroups(row: readonly string[], filled: number): boolean {
  return filled > 1 && row.findLastIndex(hasText) >= filled;
}

/** A value, and not a year, which names a column. */
function isNumber(cell: string): boolean {
  return /\d/.test(cell) && /^[\d\s.,%€$£+-]+$/.test(cell) && !/^\s*(?:19|20)\d\d\s*$/.test(cell);
}

function hasText(cell: string): boolean {
  return cell.trim() !== '';
}

function titleLine(row: readonly string[]): string {
  return row.filter(hasText).map(cellText).join(' ');
}

function checkSize(row: readonly string[], count: number, { maxRows, maxColumns }: TableLimits): void {
  if (count > maxRows) throw beyondLimit('maxRows', maxRows);
  if (row.length > maxColumns) throw beyondLimit('maxColumns', maxColumns, row.length);
}

function toLine(row: readonly string[]): string {
  return `| ${row.map(cellText).join(' | ')} |`;
}

/** One line, whose bars do not end the cell. */
function cellText(cell: string): string {
  return cell.replace(/\s+/g, ' ').trim().replaceAll('|', '\\|');
}
