import { randomUUID } from 'node:crypto';
import type { Db } from 'mongodb';
import type { AlertDocument } from './alert-document.js';
import { hoursOf, segmentsOf } from './alert-segments.js';
import { DURABLE } from '../counters.js';

/** A write to `alerts` that is about to happen, or has happened, and is not counted yet; collection `alert_marks`. */
export interface MarkDocument {
  _id: string;
  /** The hours and the segments of ids that the write touches. Marks of an older release have no segments. */
  hours: Date[];
  segments?: number[];
  at: Date;
  /** Whether the write is over: until then it may still become visible at any moment. */
  settled: boolean;
  /** Raised by the writing process as long as it lives and the mark is open. Missing in marks of an older release. */
  beat?: number;
}

/** What a write to `alerts` touches. */
interface AlertWrite {
  ids: readonly number[];
  /** When these alerts were received. */
  times: readonly Date[];
}

export function writeOf(alerts: readonly Pick<AlertDocument, '_id' | 'received_at'>[]): AlertWrite {
  return {
    ids: alerts.map(({ _id }) => _id),
    times: alerts.map(({ received_at }) => received_at),
  };
}

interface SharedMark {
  hours: Set<number>;
  segments: Set<number>;
  /** No write joins after this time, or the mark would stay open as long as pushes come. */
  until: number;
  writes: number;
  failed: boolean;
  lingering: NodeJS.Timeout | null;
  stored: Promise<MarkDocument>;
}

/** Longer than any write takes, with all its repetitions: until then an open mark is believed, unless it is dead. */
export const MARK_EXPIRES_MS = 30 * 60_000;

/** How often a process raises `beat` of the marks that it has open. */
const BEAT_MS = 5_000;
/**
 * A mark whose `beat` has not changed for so long is of a process that died: what it had sent is visible by now, and
 * no process will settle the mark. Likewise for a write that failed, whose process lives.
 */
export const MARK_LEASE_MS = 30_000;

/** For so long writes may join a mark. */
const SHARED_MS = 2_000;
/** A mark is settled when no write has joined for so long: a client that pushes again and again joins its own mark. */
const LINGER_MS = 200;
/** Marks that newcomers may join at the same time. */
const MAX_SHARED = 32;

/**
 * Which numbers of the statistics are out of date. A mark is durable before the write that it announces, so no crash
 * leaves a change that is never counted; it is settled afterwards, so that it can be removed once its segments are
 * counted. Losing the second step costs work and no truth. Writes to the same segments and hours share a mark, which
 * is settled after the last of them: otherwise each push would write its own mark twice.
 */
export function createAlertMarks(db: Db, { beatMs = BEAT_MS }: { beatMs?: number } = {}) {
  const marks = db.collection<MarkDocument>('alert_marks');
  let shared: SharedMark[] = [];
  /** The ids of the marks that are stored and not settled. Most are settled before the first beat. */
  const unsettled = new Set<string>();
  let beating: NodeJS.Timeout | null = null;

  function keepAlive(id: string): void {
    unsettled.add(id);
    beating ??= setInterval(() => {
      const ids = [...unsettled];
      // One that is lost is made up for by the next; a mark that was taken for dead is announced again by `settle`.
      if (ids.length > 0)
        marks.updateMany({ _id: { $in: ids } }, { $inc: { beat: 1 } }).catch(() => undefined);
    }, beatMs).unref();
  }

  function letGo(id: string): void {
    unsettled.delete(id);
    if (unsettled.size > 0 || beating === null) return;
    clearInterval(beating);
    beating = null;
  }

  async function settle(mark: MarkDocument): Promise<void> {
    letGo(mark._id);
    const { matchedCount } = await marks.updateOne(
      { _id: mark._id },
      { $set: { settled: true } },
      { writeConcern: { w: 1 } },
    );
    // Expired and counted meanwhile, perhaps before this write was visible: announced once more.
    if (matchedCount === 0) await marks.insertOne({ ...mark, _id: randomUUID(), settled: true });
  }

  async function announce(hours: Iterable<number>, segments: Iterable<number>): Promise<MarkDocument> {
    const mark: MarkDocument = {
      _id: randomUUID(),
      at: new Date(),
      settled: false,
      beat: 0,
      hours: [...hours].map((hour) => new Date(hour)),
      segments: [...segments],
    };
    await marks.insertOne(mark, DURABLE);
    keepAlive(mark._id);
    return mark;
  }

  function joinable(hours: readonly number[], segments: readonly number[]): SharedMark | undefined {
    const now = Date.now();
    return shared.find(
      (mark) =>
        mark.until > now &&
        segments.every((segment) => mark.segments.has(segment)) &&
        hours.every((hour) => mark.hours.has(hour)),
    );
  }

  function open(hours: readonly number[], segments: readonly number[]): SharedMark {
    // One segment ahead: the ids of the next pushes follow these.
    const announced = new Set([...segments, Math.max(...segments) + 1]);
    const mark: SharedMark = {
      hours: new Set(hours),
      segments: announced,
      until: Date.now() + SHARED_MS,
      writes: 0,
      failed: false,
      lingering: null,
      stored: announce(hours, announced),
    };
    shared = [...shared.slice(-(MAX_SHARED - 1)), mark];
    return mark;
  }

  function end(mark: SharedMark): void {
    shared = shared.filter((other) => other !== mark);
    const settleLater = (): void => void setTimeout(settleNow, MARK_LEASE_MS).unref();
    const settleNow = (): void => void mark.stored.then(settle).catch(settleLater);
    // A write that failed may still become visible: its mark stays open for a while.
    if (mark.failed) settleLater();
    else settleNow();
  }

  function leave(mark: SharedMark): void {
    mark.writes -= 1;
    if (mark.writes > 0) return;
    const rest = Math.min(LINGER_MS, mark.until - Date.now());
    if (rest <= 0 || !shared.includes(mark)) end(mark);
    else mark.lingering = setTimeout(() => end(mark), rest).unref();
  }

  return {
    /**
     * Runs a write to `alerts` behind a mark that is stored first.
     * @throws what the write throws; and when the mark cannot be stored, in which case nothing is written
     */
    async around<T>({ ids, times }: AlertWrite, write: () => Promise<T>): Promise<T> {
      if (ids.length === 0) return await write();
      const hours = hoursOf(times).map((hour) => hour.getTime());
      const segments = segmentsOf(ids);
      const mark = joinable(hours, segments) ?? open(hours, segments);
      mark.writes += 1;
      if (mark.lingering !== null) clearTimeout(mark.lingering);
      mark.lingering = null;
      try {
        await mark.stored;
      } catch (error) {
        shared = shared.filter((other) => other !== mark);
        throw error;
      }
      try {
        return await write();
      } catch (error) {
        mark.failed = true;
        shared = shared.filter((other) => other !== mark);
        throw error;
      } finally {
        leave(mark);
      }
    },
  };
}
