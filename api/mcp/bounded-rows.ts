import { losslessBody } from '../http/json.js';
import type { JsonList } from '../http/route.js';

/** Rows of one result. Text, value, message and its bytes are held at once: some seven times as much. */
const MAX_BYTES = 4 * 1024 * 1024;

/** Says of one row after the other whether the result has room for it. It has for the first, whatever its length. */
export function createRowBudget(): (row: unknown) => boolean {
  let used = 0;
  return (row) => {
    const first = used === 0;
    used += Buffer.byteLength(losslessBody(row));
    return first || used <= MAX_BYTES;
  };
}

/** Rows from the first on, as many as a result has room for. */
export function rowsWithRoom<Row>(rows: readonly Row[]): Row[] {
  const hasRoom = createRowBudget();
  const end = rows.findIndex((row) => !hasRoom(row));
  return rows.slice(0, end === -1 ? rows.length : end);
}

/** A list as a value. Its last rows are left out where they would be too much, and `truncated` says so. */
export async function boundedList({ name, rows, behind }: JsonList): Promise<Record<string, unknown>> {
  const hasRoom = createRowBudget();
  const taken: unknown[] = [];
  for await (const row of rows) {
    if (!hasRoom(row)) return { [name]: taken, ...behind, truncated: true };
    taken.push(row);
  }
  return { [name]: taken, ...behind };
}
