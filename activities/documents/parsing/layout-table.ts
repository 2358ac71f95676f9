import { INLINE_TAGS } from './html-tags.js';
import { cellsOf, rowsOf } from './table-rows.js';
import type { TableNode } from './table-rows.js';

const HEADING = /^h[1-6]$/;
/** What shows something without text. */
const PICTURE = 'img';
/** Characters of a cell that, alone in its table, is text rather than data. */
const LONG_CELL = 500;

function isBlankText({ type, value }: TableNode): boolean {
  return type === 'text' && value!.trim() === '';
}

/** Whether it is, or holds, one of these; what `past` names is not looked into. */
function holds(
  node: TableNode,
  isSought: (node: TableNode) => boolean,
  past: (node: TableNode) => boolean = () => false,
): boolean {
  if (past(node)) return false;
  return isSought(node) || (node.children ?? []).some((child) => holds(child, isSought, past));
}

function isHeading({ tagName = '' }: TableNode): boolean {
  return HEADING.test(tagName);
}

function isShown(node: TableNode): boolean {
  return node.tagName === PICTURE || (node.type === 'text' && !isBlankText(node));
}

function lengthOf({ type, value, children = [] }: TableNode): number {
  return type === 'text' ? value!.trim().length : children.reduce((sum, child) => sum + lengthOf(child), 0);
}

/** Whether a cell is a part of the page: it has a title and what stands under it. */
function isPart(cell: TableNode): boolean {
  return holds(cell, isHeading) && holds(cell, isShown, isHeading);
}

/**
 * Whether a table only puts parts of a page in their places, as those of most mails do: it has no header, and says so,
 * or has one column, or has in its cells what data has not. Linear in the page, since what stands in a table within is
 * looked at for that one alone.
 */
function isLayout({ children = [], properties }: TableNode, rows: readonly TableNode[][]): boolean {
  const cells = rows.flat();
  const isMarked = children.some(({ tagName }) => tagName === 'caption' || tagName === 'thead');
  const heads = cells.filter(({ tagName }) => tagName === 'th').length;
  if (isMarked || (heads > 0 && heads < cells.length)) return false;
  if (['presentation', 'none'].includes(String(properties?.['role']))) return true;
  if (cells.some((cell) => holds(cell, ({ tagName }) => tagName === 'table'))) return true;
  if (cells.some(isPart)) return true;
  // Others keep their distance by cells without content.
  const filled = rows.map((row) => row.filter((cell) => holds(cell, isShown)));
  if (filled.some((row) => row.length > 1)) return false;
  return rows.length > 1 || filled.flat().some((cell) => lengthOf(cell) > LONG_CELL);
}

/** Of a cell whose content is one line: that content. Editors put it into a paragraph. */
function lineOf(cell: TableNode): TableNode[] | null {
  const children = cell.children ?? [];
  const isInline = (node: TableNode): boolean => node.type === 'text' || INLINE_TAGS.has(node.tagName ?? '');
  if (children.every(isInline)) return children;
  const [block, ...others] = children.filter((child) => !isBlankText(child));
  if (others.length > 0 || (block!.tagName !== 'p' && block!.tagName !== 'div')) return null;
  return (block!.children ?? []).every(isInline) ? [{ ...block!, tagName: 'span' }] : null;
}

/** What stands beside each other in one row, such as a sum and its name, stays one line; other cells are blocks. */
function takeRowApart(row: TableNode, cells: readonly TableNode[]): void {
  const filled = cells.filter((cell) => holds(cell, isShown));
  const lines = filled.map(lineOf);
  const isLine = filled.length > 1 && lines.every((line) => line !== null);
  row.tagName = isLine ? 'p' : 'div';
  for (const cell of cells) cell.tagName = isLine ? 'span' : 'div';
  if (!isLine) return;
  filled.forEach((cell, i) => {
    cell.children = i === 0 ? lines[i]! : [{ type: 'text', value: ' | ' }, ...lines[i]!];
  });
}

/**
 * Makes blocks of a table that only lays out: as a table of data its headings would be words in a line, and its first
 * row, often a greeting, would be the header that each of its chunks repeats.
 * @returns whether it was such a table
 */
export function takeLayoutApart(table: TableNode): boolean {
  const parts = (table.children ?? []).filter(({ type }) => type === 'element');
  const rows = rowsOf(table);
  if (!isLayout(table, rows.map(cellsOf))) return false;
  for (const part of [table, ...parts]) part.tagName = 'div';
  for (const row of rows) takeRowApart(row, cellsOf(row));
  return true;
}
