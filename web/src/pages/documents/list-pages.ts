/**
 * All rows of a list that is answered in pages, the first shorter than those behind it.
 * @param read a page of so many rows behind the last one that is known
 * @param onPart hears of what is there so far, but for the whole
 */
export async function listPages<T>(
  read: (limit: number, last?: T) => Promise<readonly T[]>,
  [first, later]: readonly [first: number, later: number],
  onPart: (rows: readonly T[]) => void,
): Promise<T[]> {
  let rows: T[] = [];
  for (let limit = first; ; limit = later) {
    const page = await read(limit, rows.at(-1));
    rows = [...rows, ...page];
    if (page.length < limit) return rows;
    onPart(rows);
  }
}
