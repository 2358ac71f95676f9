import type { Db } from 'mongodb';
import { HOUR_MS, hourOf } from '../../../schemas/statistics.js';
import type { HourAggregate } from '../../../schemas/statistics.js';
import type { StatisticsStore } from '../../proxy-ports.js';
import { aggregateSpan } from './aggregate-span.js';
import { MARK_EXPIRES_MS } from './alert-marks.js';
import type { MarkDocument } from './alert-marks.js';
import { countersOf, increaseCounter } from './counters.js';
import { isDuplicateKey, withMongoErrors } from './mongo-errors.js';

/** An hour as collection `alert_hours` keeps it. */
interface HourDocument {
  /** Begin of the hour. */
  _id: Date;
  /** From a counter, taken before the counting began: of two countings the later begun one is kept. */
  ticket: number;
  aggregate: Omit<HourAggregate, 'hour'>;
}

const COUNTER = 'statistics';
/** So many marks are looked at together. */
const MARKS_AT_ONCE = 10_000;
/** Hours that are counted at the same time. */
const PARALLEL = 4;
/** A read counts so many hours before it answers: more than the default retention leaves to change. */
const HOURS_PER_READ = 1_000;

/**
 * Hourly aggregates in `alert_hours`. They are counted anew from the alerts and set, never added to, so that a retry
 * counts nothing twice. Which hours are out of date the marks say (`alert-marks.ts`): a mark is removed after the
 * hours were counted, and only if its write was over before the counting began.
 */
export const createMongoStatisticsStore = (db: Db, now: () => Date = () => new Date()): StatisticsStore => {
  const hours = db.collection<HourDocument>('alert_hours');
  const marks = db.collection<MarkDocument>('alert_marks');
  const counters = countersOf(db);
  const nextTicket = (): Promise<number> => increaseCounter(counters, COUNTER);

  const countHour = async (hour: Date): Promise<void> => {
    const ticket = await nextTicket();
    const { hour: _hour, ...aggregate } = await aggregateSpan(db, hour, new Date(hour.getTime() + HOUR_MS));
    try {
      await hours.updateOne(
        { _id: hour, ticket: { $lt: ticket } },
        { $set: { ticket, aggregate } },
        { upsert: true },
      );
    } catch (error) {
      // The hour is there with a later ticket, and so with whatever this counting saw.
      if (!isDuplicateKey(error)) throw error;
    }
  };

  let built = false;
  /** Alerts that were stored before there were aggregates have no marks: every hour is marked once. */
  const ensureBuilt = async (): Promise<void> => {
    if (built) return;
    if ((await counters.findOne({ _id: COUNTER })) === null) {
      const found = await db
        .collection('alerts')
        .aggregate<{ _id: string }>(
          [{ $group: { _id: { $dateToString: { format: '%Y-%m-%dT%H', date: '$received_at' } } } }],
          { allowDiskUse: true },
        )
        .toArray();
      if (found.length > 0)
        await marks.insertMany(
          found.map(({ _id }) => ({
            ...{ _id: `rebuild/${_id}/${now().getTime()}/${Math.random()}`, settled: true },
            ...{ hours: [new Date(`${_id}:00:00.000Z`)], at: now() },
          })),
        );
      await nextTicket();
    }
    built = true;
  };

  const recompute = async (most: number): Promise<{ counted: number; left: boolean }> => {
    await ensureBuilt();
    const found = await marks.find().limit(MARKS_AT_ONCE).toArray();
    const expired = now().getTime() - MARK_EXPIRES_MS;
    const marked = [...new Set(found.flatMap((mark) => mark.hours.map((hour) => hour.getTime())))];
    // What is recent is what is asked for.
    const chosen = marked.sort((a, b) => b - a).slice(0, most);
    for (let at = 0; at < chosen.length; at += PARALLEL)
      await Promise.all(chosen.slice(at, at + PARALLEL).map((hour) => countHour(new Date(hour))));
    const counted = new Set(chosen);
    const over = found.filter(
      (mark) =>
        (mark.settled || mark.at.getTime() < expired) &&
        mark.hours.every((hour) => counted.has(hour.getTime())),
    );
    if (over.length > 0) await marks.deleteMany({ _id: { $in: over.map(({ _id }) => _id) } });
    return {
      counted: chosen.length,
      left: marked.length > chosen.length || (found.length === MARKS_AT_ONCE && over.length > 0),
    };
  };

  /** One counting for all who wait: one that began before the question might have missed what the asker knows of. */
  let running: Promise<unknown> = Promise.resolve();
  let next: Promise<unknown> | null = null;
  const refresh = (): Promise<unknown> => {
    next ??= running
      .catch(() => undefined)
      .then(() => {
        next = null;
        running = recompute(HOURS_PER_READ);
        return running;
      });
    return next;
  };

  return withMongoErrors<StatisticsStore>({
    recompute,
    async read(since) {
      await refresh();
      const begin = since === null ? null : hourOf(since);
      const isWhole = since !== null && begin !== null && begin.getTime() === since.getTime();
      const documents = await hours
        .find(begin === null ? {} : { _id: isWhole ? { $gte: begin } : { $gt: begin } })
        .sort({ _id: 1 })
        .toArray();
      const whole = documents.map(({ _id, aggregate }) => ({ hour: _id, ...aggregate }));
      if (since === null || begin === null || isWhole) return whole;
      // The span begins in the middle of an hour: that part is counted for itself.
      const part = await aggregateSpan(db, since, new Date(begin.getTime() + HOUR_MS));
      return [{ ...part, hour: begin }, ...whole];
    },
    async forget(before) {
      await hours.deleteMany({ _id: { $lt: before }, 'aggregate.total': 0, 'aggregate.auditScenarios': [] });
    },
  });
};
