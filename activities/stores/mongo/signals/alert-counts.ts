import type { Db } from 'mongodb';
import { HOUR_MS, hourOf } from '../../../../schemas/signals/statistics.js';
import type { HourAggregate } from '../../../../schemas/signals/statistics.js';
import { createHourCount } from '../../../signals/hour-count.js';
import type { HourCount } from '../../../signals/hour-count.js';
import type { AlertDocument } from './alert-document.js';
import { blockOf, idsOfSegment } from './alert-segments.js';
import { isDuplicateKey } from '../mongo-errors.js';

/**
 * The count of the alerts of one segment, or block of segments, that were received in one hour; collection
 * `alert_counts`. An hour is the sum of its blocks, a block the sum of its segments, and only a segment is counted from
 * alerts: a change of one alert costs the same in an hour of a million alerts as in an hour of ten.
 */
interface CountDocument {
  _id: string;
  /** The count that this one is part of: a segment's block, a block's hour. */
  parent: string;
  hour: Date;
  /** Of two counts of the same the one that began later is kept. */
  ticket: number;
  /** When the first and the last alert were received; null without alerts. Of all alerts, unlike the aggregate's. */
  from: Date | null;
  to: Date | null;
  aggregate: Omit<HourAggregate, 'hour'>;
}

/** An hour as collection `alert_hours` keeps it. */
export interface HourDocument {
  /** Begin of the hour. */
  _id: Date;
  ticket: number;
  aggregate: Omit<HourAggregate, 'hour'>;
}

/** A segment's or a block's share in an hour. */
export interface Part {
  index: number;
  hour: Date;
}

/** Counts that are made at the same time. */
const PARALLEL = 4;

const COUNTED_FIELDS = {
  received_at: 1,
  filtered: 1,
  forwarded: 1,
  decisions: 1,
  matched: 1,
  'fields.scenario': 1,
  'fields.localAudit': 1,
  'fields.geoCountryCode': 1,
  'fields.geoCountryName': 1,
} as const;

type CountedFields = Pick<
  AlertDocument,
  'received_at' | 'filtered' | 'forwarded' | 'decisions' | 'matched' | 'fields'
>;

function hourKey(hour: Date): string {
  return hour.toISOString();
}

function blockKey({ index, hour }: Part): string {
  return `block ${index} ${hourKey(hour)}`;
}

function segmentKey({ index, hour }: Part): string {
  return `segment ${index} ${hourKey(hour)}`;
}

export function createAlertCounts(db: Db) {
  const alerts = db.collection<AlertDocument>('alerts');
  const counts = db.collection<CountDocument>('alert_counts');
  const hours = db.collection<HourDocument>('alert_hours');

  async function keep(document: CountDocument): Promise<void> {
    const { _id, ticket, ...rest } = document;
    try {
      await counts.updateOne(
        { _id, ticket: { $lt: ticket } },
        { $set: { ticket, ...rest } },
        { upsert: true },
      );
    } catch (error) {
      // It is there with a later ticket, and so with whatever this count saw.
      if (!isDuplicateKey(error)) throw error;
    }
  }

  function readAlerts(
    segment: number,
    received?: { from: Date; before: Date },
  ): AsyncIterable<CountedFields> {
    const { first, end } = idsOfSegment(segment);
    const ids = { _id: { $gte: first, $lt: end } };
    return alerts.find<CountedFields>(
      received === undefined ? ids : { ...ids, received_at: { $gte: received.from, $lt: received.before } },
      { projection: COUNTED_FIELDS, batchSize: 1_000 },
    );
  }

  /** Counts a segment of ids from its alerts, and keeps its share in each of these hours. */
  async function countSegment(segment: number, wanted: readonly Date[], ticket: number): Promise<void> {
    const shares = new Map(
      wanted.map((hour) => [hour.getTime(), { count: createHourCount(hour), bounds: newBounds() }]),
    );
    for await (const alert of readAlerts(segment)) {
      const share = shares.get(hourOf(alert.received_at).getTime());
      if (share === undefined) continue;
      addAlert(share.count, alert);
      widen(share.bounds, alert.received_at, alert.received_at);
    }
    for (const [time, { count, bounds }] of shares) {
      const hour = new Date(time);
      await keep({
        _id: segmentKey({ index: segment, hour }),
        parent: blockKey({ index: blockOf(segment), hour }),
        hour,
        ticket,
        ...bounds,
        aggregate: withoutHour(count.result()),
      });
    }
  }

  /** What the counts under a parent add up to. */
  async function sumOf(parent: string, hour: Date) {
    const count = createHourCount(hour);
    const bounds = newBounds();
    for await (const part of counts.find({ parent })) {
      count.merge({ ...part.aggregate, hour });
      widen(bounds, part.from, part.to);
    }
    return { ...bounds, aggregate: withoutHour(count.result()) };
  }

  async function countBlock(part: Part, ticket: number): Promise<void> {
    const key = blockKey(part);
    const { hour } = part;
    await keep({ _id: key, parent: hourKey(hour), hour, ticket, ...(await sumOf(key, hour)) });
  }

  async function countHour(hour: Date, ticket: number): Promise<void> {
    const { aggregate } = await sumOf(hourKey(hour), hour);
    try {
      await hours.updateOne(
        { _id: hour, ticket: { $lt: ticket } },
        { $set: { ticket, aggregate } },
        { upsert: true },
      );
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
    }
  }

  /** Counts of whole parts are taken as they are; of a part that the time cuts, what it is made of is looked at. */
  async function addSince(count: HourCount, parent: string, since: Date): Promise<void> {
    for await (const part of counts.find({ parent })) {
      if (part.from === null || part.to === null || part.to < since) continue;
      if (part.from >= since) count.merge({ ...part.aggregate, hour: part.hour });
      else if (part._id.startsWith('block')) await addSince(count, part._id, since);
      else {
        const before = new Date(part.hour.getTime() + HOUR_MS);
        const segment = Number(part._id.split(' ')[1]);
        for await (const alert of readAlerts(segment, { from: since, before })) addAlert(count, alert);
      }
    }
  }

  return {
    /**
     * Counts anew these segments, each with the hours in which its alerts were received, and all that they are part of.
     * @param nextTicket what orders counts: taken before a count looks at anything
     */
    async recount(segments: ReadonlyMap<number, readonly Date[]>, nextTicket: () => Promise<number>) {
      if (segments.size === 0) return;
      const ticket = await nextTicket();
      await inParallel([...segments], ([segment, touched]) => countSegment(segment, touched, ticket));
      const parts = [...segments].flatMap(([segment, touched]) =>
        touched.map((hour) => ({ index: blockOf(segment), hour })),
      );
      const blocks = new Map(parts.map((part) => [blockKey(part), part]));
      const blockTicket = await nextTicket();
      await inParallel([...blocks.values()], (part) => countBlock(part, blockTicket));
      const touchedHours = new Map(parts.map(({ hour }) => [hour.getTime(), hour]));
      const hourTicket = await nextTicket();
      await inParallel([...touchedHours.values()], (hour) => countHour(hour, hourTicket));
    },

    /** The segments that have a share in an hour whose count does not tell what rules matched. */
    async withoutRules(): Promise<Map<number, Date[]>> {
      const old = await hours
        .find({ 'aggregate.rules': { $exists: false } }, { projection: { _id: 1 } })
        .toArray();
      const segments = new Map<number, Date[]>();
      if (old.length === 0) return segments;
      const shares = counts.find(
        { hour: { $in: old.map(({ _id }) => _id) } },
        { projection: { hour: 1 }, batchSize: 10_000 },
      );
      for await (const { _id, hour } of shares) {
        const [kind, index] = _id.split(' ');
        if (kind !== 'segment') continue;
        segments.set(Number(index), [...(segments.get(Number(index)) ?? []), hour]);
      }
      return segments;
    },

    /** The part of an hour from a time within it on. */
    async partOfHour(since: Date): Promise<HourAggregate> {
      const hour = hourOf(since);
      const count = createHourCount(hour);
      await addSince(count, hourKey(hour), since);
      return count.result();
    },

    /** Removes what has come to count nothing, of hours before a time. */
    async forget(before: Date): Promise<void> {
      await hours.deleteMany({ _id: { $lt: before }, 'aggregate.total': 0, 'aggregate.auditScenarios': [] });
      await counts.deleteMany({ hour: { $lt: before }, from: null });
    },
  };
}

function newBounds(): Pick<CountDocument, 'from' | 'to'> {
  return { from: null, to: null };
}

function widen(bounds: Pick<CountDocument, 'from' | 'to'>, from: Date | null, to: Date | null): void {
  if (from !== null && (bounds.from === null || from < bounds.from)) bounds.from = from;
  if (to !== null && (bounds.to === null || to > bounds.to)) bounds.to = to;
}

function addAlert(count: HourCount, alert: CountedFields): void {
  const { fields } = alert;
  count.add({
    scenario: fields.scenario,
    country: fields.geoCountryCode ?? null,
    countryName: fields.geoCountryName ?? null,
    filtered: alert.filtered,
    forwarded: alert.forwarded,
    audit: fields.localAudit === true,
    receivedAt: alert.received_at,
    decisions: alert.decisions,
    matched: alert.matched ?? [],
  });
}

function withoutHour({ hour: _hour, ...aggregate }: HourAggregate): Omit<HourAggregate, 'hour'> {
  return aggregate;
}

async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const queue = items.values();
  const worker = async (): Promise<void> => {
    for (const item of queue) await work(item);
  };
  await Promise.all(Array.from({ length: PARALLEL }, worker));
}
