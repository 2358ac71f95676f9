import { randomUUID } from 'node:crypto';
import type { Db } from 'mongodb';
import { hourOf } from '../../../schemas/statistics.js';
import { DURABLE } from './durable.js';

/** A write to `alerts` that is about to happen, or has happened, and is not counted yet; collection `alert_marks`. */
export interface MarkDocument {
  _id: string;
  /** The hours that the write touches. */
  hours: Date[];
  at: Date;
  /** Whether the write is over: until then it may still become visible at any moment. */
  settled: boolean;
}

/**
 * A write whose process died never settles its mark. Longer than any write takes, with all its repetitions; until
 * then its hours are counted anew at every look.
 */
export const MARK_EXPIRES_MS = 30 * 60_000;

/** So long writes may join a mark: without an end one would stay open as long as pushes come. */
const SHARED_MS = 2_000;

const isoOf = (hour: Date): string => hour.toISOString();

/**
 * Which hours of statistics are out of date. A mark is durable before the write that it announces, so no crash leaves
 * a change that nobody knows of; it is settled afterwards, so that it can be removed once its hours are counted. Losing
 * the second step costs work and no truth. Writes to the same hours at the same time share a mark, which is settled when the
 * last of them has succeeded: a crowd of pushes would else write two marks' worth each.
 */
export const createAlertMarks = (db: Db) => {
  const marks = db.collection<MarkDocument>('alert_marks');
  const settle = async (mark: MarkDocument): Promise<void> => {
    const { matchedCount } = await marks.updateOne(
      { _id: mark._id },
      { $set: { settled: true } },
      { writeConcern: { w: 1 } },
    );
    // Taken for dead and counted without us: once more.
    if (matchedCount === 0) await marks.insertOne({ ...mark, _id: randomUUID(), settled: true });
  };
  const announce = async (hours: Date[]): Promise<MarkDocument> => {
    const mark = { _id: randomUUID(), hours, at: new Date(), settled: false };
    await marks.insertOne(mark, DURABLE);
    return mark;
  };

  /** The mark that newcomers may share. */
  let current: { name: string; until: number; writes: number; mark: Promise<MarkDocument> } | null = null;

  return {
    /** Announces a write to alerts received at these times. Call the answer when the write has succeeded. */
    async open(times: readonly Date[]): Promise<() => void> {
      const hours = [...new Map(times.map((time) => [isoOf(hourOf(time)), hourOf(time)])).values()];
      if (hours.length === 0) return () => {};
      const name = hours.map(isoOf).sort().join();
      if (current === null || current.name !== name || current.until <= Date.now())
        current = { name, until: Date.now() + SHARED_MS, writes: 0, mark: announce(hours) };
      const mine = current;
      mine.writes += 1;
      const leave = (): boolean => {
        mine.writes -= 1;
        if (mine.writes === 0 && current === mine) current = null;
        return mine.writes === 0;
      };
      const mark = await mine.mark.catch((error: unknown) => {
        leave();
        throw error;
      });
      return () => {
        if (leave()) void settle(mark).catch(() => undefined);
      };
    },
  };
};
