import type { Sort } from '../../../shared/virtual-table';
import { FIRST_PAGE, textOf } from '../queries';
import type { FileRow } from '../queries';

const UNITS = ['B', 'KB', 'MB', 'GB', 'TB'];

/** The server writes sizes for people, as `2.40 MB`. */
function bytesOf(size: unknown): number {
  const [amount, unit] = textOf(size).split(' ');
  return Number(amount) * 1024 ** Math.max(0, UNITS.indexOf(unit ?? 'B')) || 0;
}

/** Set by the server for each file: no news for who looks for something. */
const NOT_SEARCHED = new Set(['link', 'partition', 'content_sha256', 'source', 'indexed_at', 'page_sep']);

function textsOf(row: FileRow): string {
  return Object.entries(row)
    .filter(([key]) => !NOT_SEARCHED.has(key))
    .map(([, value]) => textOf(value))
    .join('\n')
    .toLowerCase();
}

/** Texts of rows are made once: a list of 50,000 is filtered with each key that is pressed. */
const texts = new WeakMap<FileRow, string>();

function searched(row: FileRow): string {
  const known = texts.get(row) ?? textsOf(row);
  texts.set(row, known);
  return known;
}

const collator = new Intl.Collator(undefined, { numeric: true });

const compare: Record<string, (one: FileRow, other: FileRow) => number> = {
  file: (one, other) => collator.compare(one.file_id, other.file_id),
  size: (one, other) => bytesOf(one['file_size']) - bytesOf(other['file_size']),
  indexed: (one, other) => (one.indexed_at < other.indexed_at ? -1 : 1),
};

/**
 * Names of a list that came in pages keep the order of the server, character by character: numbers in them as numbers
 * would be read only by moving rows while pages come in.
 */
export function keepsOrder(rows: readonly FileRow[], sort: Sort): boolean {
  return sort.key === 'file' && rows.length >= FIRST_PAGE;
}

/** The rows that hold every word of the filter, in the order that was asked for. */
export function arrange(rows: readonly FileRow[], filter: string, sort: Sort): FileRow[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const kept = rows.filter((row) => words.every((word) => searched(row).includes(word)));
  const sorted = keepsOrder(rows, sort) ? kept : kept.sort(compare[sort.key]);
  return sort.descending ? sorted.reverse() : sorted;
}
