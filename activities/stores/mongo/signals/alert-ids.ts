import type { Db } from 'mongodb';
import { countersOf, increaseCounter } from '../counters.js';

const COUNTER = 'alert';

interface Reservation {
  count: number;
  resolve(first: number): void;
  reject(error: unknown): void;
}

/**
 * Ids of alerts, ever increasing and never used twice. Reservations asked for while one is under way share the
 * next one, in their order: all pushes write the same counter, and many of them would wait for it one by one.
 */
export function createAlertIds(db: Db) {
  const counters = countersOf(db);
  let reservations: Reservation[] = [];
  let underWay = false;

  const serve = async (): Promise<void> => {
    underWay = true;
    while (reservations.length > 0) {
      const served = reservations;
      reservations = [];
      try {
        const wanted = served.reduce((sum, { count }) => sum + count, 0);
        let first = (await increaseCounter(counters, COUNTER, wanted)) - wanted + 1;
        for (const { count, resolve } of served) {
          resolve(first);
          first += count;
        }
      } catch (error) {
        for (const { reject } of served) reject(error);
      }
    }
    underWay = false;
  };

  return {
    /** Reserves ids in one step and answers the first one. Those of a batch that fails are never used. */
    reserve: (count: number): Promise<number> =>
      new Promise((resolve, reject) => {
        reservations.push({ count, resolve, reject });
        if (!underWay) void serve();
      }),
    /** After this no id up to that one is handed out. */
    async raise(last: number): Promise<void> {
      await counters.updateOne({ _id: COUNTER }, { $max: { value: last } });
    },
  };
}
