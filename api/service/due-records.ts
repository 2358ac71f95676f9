import type { RetentionRow } from '../../schemas/retention-api.js';

const DAY_MS = 86_400_000;
/** A count that says no more than "many" from here on. */
const COUNTED = 100_000;

/** A dry run of a retention: what it would take at this moment. */
export async function dueRecords(
  of: RetentionRow['of'],
  { days, now }: { days: number; now: Date },
  count: (before: Date, limit: number) => Promise<number>,
): Promise<RetentionRow> {
  if (days === 0) return { of, days, before: null, due: 0, more: false };
  const before = new Date(now.getTime() - days * DAY_MS);
  const due = await count(before, COUNTED + 1);
  return { of, days, before: before.toISOString(), due: Math.min(due, COUNTED), more: due > COUNTED };
}
