const HOUR_MS = 3_600_000;
const GROWTH = 4;
/** Four years: beyond that everything is asked for. */
const MAX_SPAN_MS = HOUR_MS * GROWTH ** 8;

/**
 * The latest of some times since which there are at least `needed` documents, or null where there are not so many. A
 * sort with a limit is then asked of those alone: some servers sort everything that a filter selects first (DocumentDB
 * does).
 * @param count how many there are since a time; it may stop at `needed`
 */
export async function newestSince(
  count: (since: Date) => Promise<number>,
  needed: number,
): Promise<Date | null> {
  const now = Date.now();
  for (let span = HOUR_MS; span <= MAX_SPAN_MS; span *= GROWTH) {
    const since = new Date(now - span);
    if ((await count(since)) >= needed) return since;
  }
  return null;
}
