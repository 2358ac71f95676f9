import type { Collection, Filter } from 'mongodb';
import type { AlertDocument } from './alert-document.js';

type Alerts = Collection<AlertDocument>;
type FilterOf = (span: Span) => Filter<AlertDocument>;

/** Bounds of `received_at`; without any: all times. */
export interface Span {
  $gte?: Date;
  $lte?: Date;
}

/** The next window is so many times as wide, by what the last one held. */
const MIN_GROWTH = 2;
const MAX_GROWTH = 16;

/**
 * A lower bound of `received_at` above which at least `needed` alerts of a filter were received (or no bound, where
 * there are not so many), and not many more. Some servers sort everything that a filter selects before they apply a
 * limit (DocumentDB does): what is sorted must be narrowed first. Ids follow the order of receipt closely, so the
 * time at which the alert so many ids back was received tells how far back to look, however bursts and silences
 * alternate; the count decides whether it is far enough.
 */
export async function newestWindow(
  alerts: Alerts,
  filterOf: FilterOf,
  { needed, since, until }: { needed: number; since: Date | undefined; until: Date | undefined },
): Promise<Span> {
  const bounds: Span = {
    ...(since !== undefined && { $gte: since }),
    ...(until !== undefined && { $lte: until }),
  };
  const [newest, oldest] = await Promise.all([endId(alerts, -1), endId(alerts, 1)]);
  if (newest === null || oldest === null) return bounds;
  const from = until === undefined ? newest : await lastIdBefore(alerts, until, oldest, newest);
  for (let width = Math.ceil(needed * 1.25) + 10; from - width >= oldest;) {
    const time = await receivedAt(alerts, from - width);
    if (time === null || (since !== undefined && time <= since)) break;
    const span = { ...bounds, $gte: time };
    const count = await alerts.countDocuments(filterOf(span));
    if (count >= needed) return span;
    width = Math.ceil(width * growth(needed, count));
  }
  return bounds;
}

/** Likewise at the old end: an upper bound of `received_at`, not above `before`. */
export async function oldestWindow(
  alerts: Alerts,
  filterOf: FilterOf,
  { needed, before }: { needed: number; before: Date },
): Promise<Span> {
  const [newest, oldest] = await Promise.all([endId(alerts, -1), endId(alerts, 1)]);
  if (newest === null || oldest === null) return { $lte: before };
  for (let width = Math.ceil(needed * 1.25) + 10; oldest + width <= newest;) {
    const time = await receivedAt(alerts, oldest + width);
    if (time === null || time >= before) break;
    const count = await alerts.countDocuments(filterOf({ $lte: time }));
    if (count >= needed) return { $lte: time };
    width = Math.ceil(width * growth(needed, count));
  }
  return { $lte: before };
}

function growth(needed: number, count: number): number {
  if (count === 0) return MAX_GROWTH;
  return Math.min(MAX_GROWTH, Math.max(MIN_GROWTH, (1.5 * needed) / count));
}

async function endId(alerts: Alerts, direction: 1 | -1): Promise<number | null> {
  const [end] = await alerts
    .find({}, { projection: { _id: 1 } })
    .sort({ _id: direction })
    .limit(1)
    .toArray();
  return end?._id ?? null;
}

/** When the alert of this id, or the last one before it, was received. */
async function receivedAt(alerts: Alerts, id: number): Promise<Date | null> {
  const [found] = await alerts
    .find({ _id: { $lte: id } }, { projection: { received_at: 1 } })
    .sort({ _id: -1 })
    .limit(1)
    .toArray();
  return found?.received_at ?? null;
}

/** Roughly the last id that was received at or before a time: exact where ids follow the order of receipt. */
async function lastIdBefore(alerts: Alerts, time: Date, oldest: number, newest: number): Promise<number> {
  let [low, high] = [oldest, newest];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    const received = await receivedAt(alerts, middle);
    if (received !== null && received <= time) low = middle;
    else high = middle - 1;
  }
  return low;
}
