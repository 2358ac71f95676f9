import { cellsOf, rowsOf } from './table-rows.js';
import type { TableNode } from './table-rows.js';

/** HTML's own limits; browsers do not show more. */
const MAX_COLUMN_SPAN = 1000;
const MAX_ROW_SPAN = 65_534;
/** Cells that are in no source may be so many in a document, beside three for each that is. */
const EMPTY_CELLS = 100_000;
const EMPTY_PER_CELL = 3;

function spanOf({ properties }: TableNode, name: 'colSpan' | 'rowSpan', most: number): number {
  const given = Number.parseInt(String(properties?.[name]), 10);
  return given >= 1 ? Math.min(given, most) : 1;
}

/** Cells of a table as it is written: each row as wide as the widest; and those that stand in the source. */
function measure(rows: readonly TableNode[]): { written: number; given: number } {
  /** By row: columns that spans of rows above begin (or, negative, end) to take. */
  const from = new Map<number, number>();
  let carried = 0;
  let widest = 1;
  let given = 0;
  rows.forEach((row, index) => {
    carried += from.get(index) ?? 0;
    const cells = cellsOf(row);
    given += cells.length;
    let width = carried;
    for (const cell of cells) {
      const columns = spanOf(cell, 'colSpan', MAX_COLUMN_SPAN);
      const below = spanOf(cell, 'rowSpan', MAX_ROW_SPAN);
      width += columns;
      if (below === 1) continue;
      from.set(index + 1, (from.get(index + 1) ?? 0) + columns);
      from.set(index + below, (from.get(index + below) ?? 0) - columns);
    }
    widest = Math.max(widest, width);
  });
  return { written: rows.length * widest, given };
}

/** Lines of text in the place of a table: what it says is kept. */
function toLines(table: TableNode, rows: readonly TableNode[]): void {
  for (const part of [table, ...(table.children ?? [])]) if (part.type === 'element') part.tagName = 'div';
  for (const row of rows) {
    row.tagName = 'p';
    for (const cell of cellsOf(row)) {
      cell.tagName = 'span';
      cell.children?.push({ type: 'text', value: ' | ' });
    }
  }
}

/**
 * Keeps what becomes of the tables of one document within a few times its size: 84 bytes may ask for a table of a
 * billion columns, and one wide row has all others filled up. Spans are clamped to HTML's limits; where a table would
 * still be too large they are ignored, and where that is not enough its rows become lines.
 */
export function createTableBound(): (table: TableNode) => void {
  let spare = EMPTY_CELLS;
  const fits = ({ written, given }: { written: number; given: number }): boolean => {
    const empty = Math.max(0, written - given * (1 + EMPTY_PER_CELL));
    if (empty > spare) return false;
    spare -= empty;
    return true;
  };
  return (table) => {
    const rows = rowsOf(table);
    const cells = rows.flatMap(cellsOf);
    for (const cell of cells) {
      if (cell.properties?.['colSpan'] !== undefined)
        cell.properties['colSpan'] = spanOf(cell, 'colSpan', MAX_COLUMN_SPAN);
      if (cell.properties?.['rowSpan'] !== undefined)
        cell.properties['rowSpan'] = spanOf(cell, 'rowSpan', MAX_ROW_SPAN);
    }
    if (fits(measure(rows))) return;
    for (const cell of cells) {
      delete cell.properties?.['colSpan'];
      delete cell.properties?.['rowSpan'];
    }
    if (!fits(measure(rows))) toLines(table, rows);
  };
}
