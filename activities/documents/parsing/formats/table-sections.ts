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

/**
 * Rows as Markdown tables under the header of the first row, in constant memory: each section is a table of its own
 * with the header repeated. A table of one column is text, a line each. Rows without text are left out.
 */
export async function* tableSections(
  rows: AsyncIterable<readonly string[]> | Iterable<readonly string[]>,
  place: Pick<Section, 'headingPath' | 'page'>,
  limits: TableLimits,
): AsyncGenerator<Section> {
  let header: string | null = null;
  let width = 0;
  let count = 0;
  let lines: string[] = [];
  let length = 0;
  let given = false;
  const take = (): Section => {
    const text = (width > 1 ? header! : '') + lines.join('\n');
    lines = [];
    length = 0;
    return { ...place, kind: width > 1 ? 'table' : 'text', text };
  };
  for await (const row of rows) {
    checkSize(row, ++count, limits);
    if (row.every((cell) => cell.trim() === '')) continue;
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
