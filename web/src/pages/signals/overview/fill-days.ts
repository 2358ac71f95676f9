import type { Period } from '../queries';

const DAY_MS = 86_400_000;

interface Day {
  date: string;
  count: number;
}

/** Every day of the period with its count, in seconds since 1970: the server leaves out days without alerts. */
export function fillDays(days: readonly Day[], period: Period, now: number): [number[], number[]] {
  const counts = new Map(days.map(({ date, count }) => [Date.parse(`${date}T00:00:00Z`), count]));
  const today = Math.floor(now / DAY_MS) * DAY_MS;
  const length = { '7d': 7, '30d': 30, all: null }[period];
  const first = Math.min(...counts.keys(), length === null ? today : today - (length - 1) * DAY_MS);
  const times = Array.from(
    { length: Math.round((today - first) / DAY_MS) + 1 },
    (_, day) => first + day * DAY_MS,
  );
  return [times.map((time) => time / 1000), times.map((time) => counts.get(time) ?? 0)];
}

/** The alerts of the days that a range of seconds touches, as bounds of the list. */
export function daysBetween(from: number, until: number): { since: string; until: string } {
  const first = Math.floor((from * 1000) / DAY_MS) * DAY_MS;
  const last = Math.floor((until * 1000) / DAY_MS) * DAY_MS + DAY_MS - 1;
  return { since: new Date(first).toISOString(), until: new Date(Math.max(first, last)).toISOString() };
}
