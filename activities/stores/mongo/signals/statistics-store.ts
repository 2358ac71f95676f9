import type { Db } from 'mongodb';
import { HOUR_MS, hourOf } from '../../../../schemas/signals/statistics.js';
import type { HourAggregate } from '../../../../schemas/signals/statistics.js';
import type { StatisticsStore } from '../../../ports/signals.js';
import { sumRuleMatches } from '../../../signals/hour-count.js';
import { createAlertCounts } from './alert-counts.js';
import type { HourDocument } from './alert-counts.js';
import { MARK_EXPIRES_MS, MARK_LEASE_MS } from './alert-marks.js';
import type { MarkDocument } from './alert-marks.js';
import { SEGMENT_EXPRESSION } from './alert-segments.js';
import { countersOf, increaseCounter } from '../counters.js';
import { isDuplicateKey, withMongoErrors } from '../mongo-errors.js';

const TICKETS = 'statistics';
/** Absent in a database whose alerts were counted by hours alone. */
const BUILT = 'statistics-segments';
/** So many marks are looked at together. */
const MAX_MARKS = 10_000;
/** Hours that a process remembers, so that it reads again only those that were counted since. */
const MAX_REMEMBERED = 1_000;
/** An hour with more names is read each time. */
const MAX_REMEMBERED_NAMES = 1_000;

/**
 * Hourly aggregates in `alert_hours`. They are counted anew from the alerts and set, never added to, so that a retry
 * counts nothing twice; what is counted anew is a segment of a thousand ids and the sums above it (`alert-counts.ts`).
 * Which segments are out of date the marks say (`alert-marks.ts`): a mark is removed after its segments were counted,
 * and only if its write was over before the counting began. Of a process that died the marks are taken for over once.
 */
export function createMongoStatisticsStore(db: Db, now: () => Date = () => new Date()): StatisticsStore {
  const alerts = db.collection('alerts');
  const hours = db.collection<HourDocument>('alert_hours');
  const marks = db.collection<MarkDocument>('alert_marks');
  const counters = countersOf(db);
  const counts = createAlertCounts(db);
  const remembered = new Map<number, { ticket: number; aggregate: HourAggregate }>();

  const nextTicket = (): Promise<number> => increaseCounter(counters, TICKETS);

  /** The segments of the alerts that a condition selects, each with the hours in which these were received. */
  const segmentsWhere = async (received?: Record<string, Date>): Promise<Map<number, Date[]>> => {
    const found = await alerts
      .aggregate<{ _id: { segment: number; hour: string } }>(
        [
          ...(received === undefined ? [] : [{ $match: { received_at: received } }]),
          {
            $group: {
              _id: {
                segment: SEGMENT_EXPRESSION,
                hour: { $dateToString: { format: '%Y-%m-%dT%H', date: '$received_at' } },
              },
            },
          },
        ],
        { allowDiskUse: true },
      )
      .toArray();
    const segments = new Map<number, Date[]>();
    for (const { _id } of found) {
      const hour = new Date(`${_id.hour}:00:00.000Z`);
      segments.set(_id.segment, [...(segments.get(_id.segment) ?? []), hour]);
    }
    return segments;
  };

  const markForRecount = async (segments: ReadonlyMap<number, Date[]>): Promise<void> => {
    if (segments.size === 0) return;
    await marks.insertMany(
      [...segments].map(([segment, touched]) => ({
        _id: `rebuild/${segment}/${now().getTime()}/${Math.random()}`,
        settled: true,
        hours: touched,
        segments: [segment],
        at: now(),
      })),
    );
  };

  let built = false;
  /**
   * Alerts that were stored before there were counts of segments have no marks: every segment is marked once. So is
   * what a release counted that knew no rules.
   */
  const ensureBuilt = async (): Promise<void> => {
    if (built) return;
    if ((await counters.findOne({ _id: BUILT })) === null) {
      await markForRecount(await segmentsWhere());
      await increaseCounter(counters, BUILT);
    } else await markForRecount(await counts.withoutRules());
    built = true;
  };

  /** Marks of an older release name hours alone. */
  const touchedBy = async (mark: MarkDocument): Promise<Map<number, readonly Date[]>> => {
    if (mark.segments !== undefined) return new Map(mark.segments.map((segment) => [segment, mark.hours]));
    const touched = new Map<number, Date[]>();
    for (const hour of mark.hours)
      for (const [segment] of await segmentsWhere({ $gte: hour, $lt: new Date(hour.getTime() + HOUR_MS) }))
        touched.set(segment, [...(touched.get(segment) ?? []), hour]);
    return touched;
  };

  /** The open marks of the last look: which beat each had, and since when it has had that. */
  let watched = new Map<string, { beat: number; since: number }>();
  /**
   * The marks whose writes are over, or whose process died: no beat was seen for a lease, by this process's own clock,
   * so that the clocks of two machines are never compared.
   * @param asked when they were asked for
   */
  const overAmong = (found: readonly MarkDocument[], asked: number): Set<string> => {
    const answered = now().getTime();
    const over = new Set<string>();
    const seen = new Map<string, { beat: number; since: number }>();
    for (const { _id, settled, at, beat } of found) {
      if (settled || at.getTime() < asked - MARK_EXPIRES_MS) over.add(_id);
      else if (beat !== undefined) {
        const before = watched.get(_id);
        const since = before?.beat === beat ? before.since : answered;
        if (asked - since >= MARK_LEASE_MS) over.add(_id);
        seen.set(_id, { beat, since });
      }
    }
    watched = seen;
    return over;
  };

  /**
   * Takes what was counted out of marks that name more than that: the next count would choose the same segments again,
   * and a mark wider than its limit would never go.
   */
  const narrow = async (
    partly: readonly { mark: MarkDocument; left: number[] }[],
    counted: number[],
  ): Promise<void> => {
    const inPlace = partly.filter(({ mark }) => mark.settled && mark.segments !== undefined);
    if (inPlace.length > 0)
      await marks.updateMany(
        { _id: { $in: inPlace.map(({ mark }) => mark._id) } },
        { $pullAll: { segments: counted } },
      );
    // A writer that was only taken for dead settles its mark, or announces all of it again where it is gone; so another
    // one stands for the rest. Of two counts at once each has counted what its own leaves out.
    for (const { mark, left } of partly.filter((one) => !inPlace.includes(one))) {
      const rest = { settled: true, hours: mark.hours, segments: left, at: mark.at };
      try {
        await marks.updateOne({ _id: `rest/${mark._id}` }, { $setOnInsert: rest }, { upsert: true });
      } catch (error) {
        if (!isDuplicateKey(error)) throw error;
      }
      await marks.deleteOne({ _id: mark._id, settled: mark.settled });
    }
  };

  const recompute = async (limit: number): Promise<{ counted: number; left: boolean }> => {
    await ensureBuilt();
    const asked = now().getTime();
    const found = await marks.find().limit(MAX_MARKS).toArray();
    const ended = overAmong(found, asked);
    const touched = await Promise.all(found.map(touchedBy));
    const pending = new Map<number, Map<number, Date>>();
    for (const one of touched)
      for (const [segment, times] of one) {
        const known = pending.get(segment) ?? new Map<number, Date>();
        for (const hour of times) known.set(hour.getTime(), hour);
        pending.set(segment, known);
      }
    // What is recent is what is asked for.
    const chosen = new Map(
      [...pending]
        .sort(([a], [b]) => b - a)
        .slice(0, limit)
        .map(([segment, times]) => [segment, [...times.values()]] as const),
    );
    await counts.recount(chosen, nextTicket);
    const waiting = touched.map((of) => [...of.keys()].filter((segment) => !chosen.has(segment)));
    const partly = found.flatMap((mark, index) =>
      ended.has(mark._id) && waiting[index]!.length > 0 ? [{ mark, left: waiting[index]! }] : [],
    );
    await narrow(partly, [...chosen.keys()]);
    const over = found.filter((mark, index) => ended.has(mark._id) && waiting[index]!.length === 0);
    if (over.length > 0) await marks.deleteMany({ _id: { $in: over.map(({ _id }) => _id) } });
    return {
      counted: chosen.size,
      left: pending.size > chosen.size || (found.length === MAX_MARKS && over.length > 0),
    };
  };

  /** One count for all that wait; never one that began before the request, which might miss its alerts. */
  let running: Promise<unknown> = Promise.resolve();
  let next: Promise<unknown> | null = null;
  const refresh = (): Promise<unknown> => {
    next ??= running
      .catch(() => undefined)
      .then(() => {
        next = null;
        running = countAll();
        return running;
      });
    return next;
  };
  const countAll = async (): Promise<void> => {
    while ((await recompute(Infinity)).left) continue;
  };

  const remember = ({ _id, ticket, aggregate }: HourDocument): HourAggregate => {
    const whole = { hour: _id, ...aggregate };
    const { decisions } = aggregate;
    const lists = [aggregate.scenarios, aggregate.auditScenarios, aggregate.countries];
    const names = [...lists, decisions.categories, decisions.scenarios, decisions.countries];
    if (names.reduce((sum, { length }) => sum + length, 0) <= MAX_REMEMBERED_NAMES) {
      remembered.set(_id.getTime(), { ticket, aggregate: whole });
      const [oldest] = remembered.keys();
      if (remembered.size > MAX_REMEMBERED && oldest !== undefined) remembered.delete(oldest);
    }
    return whole;
  };

  /** The kept hours from one on, oldest first. Those that were not counted since the last question are remembered. */
  const readHours = async (from: Date | null): Promise<HourAggregate[]> => {
    const tickets = await hours
      .find<Pick<HourDocument, '_id' | 'ticket'>>(from === null ? {} : { _id: { $gte: from } }, {
        projection: { ticket: 1 },
        batchSize: 10_000,
      })
      .toArray();
    const current = new Map<number, HourAggregate>();
    const missing: Date[] = [];
    for (const { _id, ticket } of tickets) {
      const known = remembered.get(_id.getTime());
      if (known?.ticket === ticket) current.set(_id.getTime(), known.aggregate);
      else missing.push(_id);
    }
    if (missing.length > 0)
      for await (const document of hours.find({ _id: { $in: missing } }))
        current.set(document._id.getTime(), remember(document));
    return [...current].sort(([a], [b]) => a - b).map(([, aggregate]) => aggregate);
  };

  return withMongoErrors<StatisticsStore>({
    recompute,
    async read(since) {
      await refresh();
      const begin = since === null ? null : hourOf(since);
      const found = await readHours(begin);
      if (since === null || begin === null || begin.getTime() === since.getTime()) return found;
      // The span begins in the middle of an hour: that part is counted for itself.
      const later = found.filter(({ hour }) => hour > begin);
      return [await counts.partOfHour(since), ...later];
    },
    async ruleMatches() {
      await refresh();
      const found = await readHours(null);
      if (found.every(({ rules }) => rules !== undefined)) return sumRuleMatches(found);
      // Another process of an earlier release still counts beside this one.
      await markForRecount(await counts.withoutRules());
      await refresh();
      return sumRuleMatches(await readHours(null));
    },
    forget: counts.forget,
  });
}
