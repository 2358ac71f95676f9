import { describe, expect, test } from '@jest/globals';
import type { Db } from 'mongodb';
import { createAlertMarks } from '../../activities/stores/mongo/alert-marks.js';
import { createMongoAlertStore } from '../../activities/stores/mongo/alert-store.js';
import { createMongoStatisticsStore } from '../../activities/stores/mongo/statistics-store.js';
import { statsOf } from '../../api/proxy/sum-statistics.js';
import { createFakeAlertStore } from '../support/fakes/fake-alert-store.js';
import { createFakeStatisticsStore } from '../support/fakes/fake-statistics-store.js';
import { until } from '../support/until.js';
import { sampleAlert, sampleSignal } from './alert-store-samples.js';
import { times } from './samples.js';
import { everyAlert, expectTruth, idsOf, statisticsContract } from './statistics-store.contract.js';
import type { CountedAlerts } from './statistics-store.contract.js';
import { fake, mongo, openTestDatabase } from './subject.js';

const fakes = (): CountedAlerts => {
  const alerts = createFakeAlertStore();
  return { alerts, statistics: createFakeStatisticsStore(alerts) };
};
const onMongo = (db: Db): CountedAlerts => ({
  alerts: createMongoAlertStore(db),
  statistics: createMongoStatisticsStore(db),
});

statisticsContract(fake(fakes), 100);
for (const subject of mongo(onMongo)) statisticsContract(subject, 8);

type Fault = (run: () => Promise<unknown>) => Promise<unknown>;

/** The same database, with what a test puts around one method of one collection. */
const withFault = (db: Db, collection: string, method: string, fault: Fault): Db => {
  const proxied = <T extends object>(target: T, name: string, replace: (value: unknown) => unknown): T =>
    new Proxy(target, {
      get: (of, key) => {
        const value = Reflect.get(of, key) as unknown;
        if (key === name) return replace(value);
        return typeof value === 'function' ? (value as () => unknown).bind(of) : value;
      },
    });
  return proxied(db, 'collection', (open) => (name: string, options: object) => {
    const real = (open as Db['collection']).call(db, name, options);
    if (name !== collection) return real;
    return proxied(
      real,
      method,
      (run) =>
        (...args: unknown[]) =>
          fault(() => (run as (...given: unknown[]) => Promise<unknown>).apply(real, args)),
    );
  });
};

const cut = new Error('the line was cut');

const realStore = process.env['TAMIS_FAKES_ONLY'] === '1' ? describe.skip : describe;

realStore('statistics on MongoDB', () => {
  const withDatabase = async (use: (db: Db, stores: CountedAlerts) => Promise<void>): Promise<void> => {
    const { db, close } = await openTestDatabase();
    try {
      await use(db, onMongo(db));
    } finally {
      await close();
    }
  };
  const marksOf = (db: Db) => db.collection('alert_marks').countDocuments();
  const settled = (db: Db, count: number) =>
    until(
      'the marks are settled',
      async () => (await db.collection('alert_marks').countDocuments({ settled: true })) === count,
    );

  test('a write whose answer was lost is counted', () =>
    withDatabase(async (db, stores) => {
      await expectTruth(stores);
      const cutAfter: Fault = async (run) => {
        await run();
        throw cut;
      };
      const alerts = createMongoAlertStore(withFault(db, 'alerts', 'insertMany', cutAfter));
      await expect(alerts.insert(times(3, () => sampleAlert()))).rejects.toThrow(cut);
      expect(await everyAlert(stores.alerts)).toHaveLength(3);
      await expectTruth(stores);
      const marking = createMongoAlertStore(withFault(db, 'alerts', 'updateMany', cutAfter));
      await expect(marking.markForwarded(await idsOf(stores.alerts), new Date())).rejects.toThrow(cut);
      await expectTruth(stores);
      const removing = createMongoAlertStore(withFault(db, 'alerts', 'deleteMany', cutAfter));
      await expect(removing.removeOld(new Date(), 10)).rejects.toThrow(cut);
      await expectTruth(stores);
      expect(await everyAlert(stores.alerts)).toEqual([]);
    }));

  test('nothing is written when the mark cannot be', () =>
    withDatabase(async (db, stores) => {
      const alerts = createMongoAlertStore(
        withFault(db, 'alert_marks', 'insertOne', async () => Promise.reject(cut)),
      );
      await expect(alerts.insert([sampleAlert()])).rejects.toThrow(cut);
      expect(await everyAlert(stores.alerts)).toEqual([]);
    }));

  test('a count between the mark and the write does not hide the write, and a process that dies then neither', () =>
    withDatabase(async (db, stores) => {
      const dies: Fault = async (run) => {
        // Somebody asks in the worst moment, and takes the hour for counted.
        expect(statsOf(await stores.statistics.read(null)).total).toBe(0);
        await run();
        throw cut;
      };
      const alerts = createMongoAlertStore(withFault(db, 'alerts', 'insertMany', dies));
      await expect(alerts.insert([sampleAlert()])).rejects.toThrow(cut);
      await expectTruth(stores);
      await expectTruth(stores);
      // Nobody will settle it: after half an hour it is counted for the last time.
      expect(await marksOf(db)).toBe(1);
      const later = createMongoStatisticsStore(db, () => new Date(Date.now() + 31 * 60_000));
      await later.read(null);
      expect(await marksOf(db)).toBe(0);
      await expectTruth(stores);
    }));

  test('a writer that was taken for dead announces itself again', () =>
    withDatabase(async (db, stores) => {
      const settle = await createAlertMarks(db).open([new Date('2026-03-01T12:00:00.000Z')]);
      const later = createMongoStatisticsStore(db, () => new Date(Date.now() + 31 * 60_000));
      await later.read(null);
      expect(await marksOf(db)).toBe(0);
      settle();
      await settled(db, 1);
      await expectTruth(stores);
      expect(await marksOf(db)).toBe(0);
    }));

  test('writes at once to the same hours share a mark, which stays open until the last of them has succeeded', () =>
    withDatabase(async (db, stores) => {
      const noon = [new Date('2026-03-01T12:00:00.000Z')];
      const marks = createAlertMarks(db);
      const [first, second, third] = await Promise.all([
        marks.open(noon),
        marks.open(noon),
        marks.open([new Date('2026-03-01T13:00:00.000Z')]),
      ]);
      expect(await marksOf(db)).toBe(2);
      third();
      second();
      await settled(db, 1);
      await stores.statistics.read(null);
      expect(await marksOf(db)).toBe(1);
      first();
      await settled(db, 1);
      await stores.statistics.read(null);
      expect(await marksOf(db)).toBe(0);
      // Nobody joins what is over.
      await marks.open(noon);
      expect(await marksOf(db)).toBe(1);
    }));

  test('a count that dies before it removes the marks is repeated', () =>
    withDatabase(async (db, stores) => {
      await expectTruth(stores);
      await stores.alerts.insert(times(5, () => sampleAlert()));
      await settled(db, 1);
      const dying = createMongoStatisticsStore(
        withFault(db, 'alert_marks', 'deleteMany', async () => Promise.reject(cut)),
      );
      await expect(dying.recompute(10)).rejects.toThrow(cut);
      expect(await marksOf(db)).toBe(1);
      await expectTruth(stores);
      expect(await marksOf(db)).toBe(0);
    }));

  test('of two counts at once the one that began later is kept', () =>
    withDatabase(async (db, stores) => {
      await stores.alerts.insert([sampleAlert()]);
      let overtake = true;
      const slow = createMongoStatisticsStore(
        withFault(db, 'alert_hours', 'updateOne', async (run) => {
          if (overtake) {
            overtake = false;
            // It has counted one alert; before it says so, a second one is stored and counted.
            await stores.alerts.insert([sampleAlert()]);
            expect(statsOf(await stores.statistics.read(null)).total).toBe(2);
          }
          return run();
        }),
      );
      await slow.recompute(10);
      await expectTruth(stores);
      expect(statsOf(await stores.statistics.read(null)).total).toBe(2);
    }));

  test('alerts from before there were statistics are counted', () =>
    withDatabase(async (db, stores) => {
      await stores.alerts.insert(
        times(30, (index) => sampleAlert({ receivedAt: new Date(Date.UTC(2026, 0, index + 1, index % 24)) })),
      );
      await settled(db, 1);
      await db.collection('alert_marks').deleteMany({});
      await expectTruth(stores);
      expect(await marksOf(db)).toBe(0);
    }));

  test('a bounded count takes the latest hours first and says that there is more', () =>
    withDatabase(async (db, stores) => {
      await expectTruth(stores);
      await stores.alerts.insert(
        times(10, (index) => sampleAlert({ receivedAt: new Date(Date.UTC(2026, 0, 1, index)) })),
      );
      await settled(db, 1);
      expect(await stores.statistics.recompute(4)).toEqual({ counted: 4, left: true });
      const kept = await db.collection<{ _id: Date }>('alert_hours').find().sort({ _id: 1 }).toArray();
      expect(kept.map(({ _id }) => _id.getUTCHours())).toEqual([6, 7, 8, 9]);
      expect(await stores.statistics.recompute(10)).toEqual({ counted: 10, left: false });
      expect(await stores.statistics.recompute(10)).toEqual({ counted: 0, left: false });
      await expectTruth(stores);
    }));

  test('an hour with very many names keeps its totals, and the most frequent of them', () =>
    withDatabase(async (_db, stores) => {
      const long = 'x'.repeat(3_500);
      await stores.alerts.insert(
        times(900, (index) =>
          sampleAlert({ signal: sampleSignal({ scenario: index < 2 ? 'often' : `${index}${long}` }) }),
        ),
      );
      const [hour] = await stores.statistics.read(null);
      expect(hour).toMatchObject({ total: 900, truncated: true });
      expect(hour?.scenarios[0]).toEqual({ name: 'often', count: 2 });
      expect(hour?.scenarios.length).toBeLessThan(700);
    }));

  test('what is written while others ask is never counted wrongly for good', () =>
    withDatabase(async (_db, stores) => {
      const writers = times(6, async (writer) => {
        for (const turn of times(5, (index) => index)) {
          const watcher = `w-${writer}`;
          await stores.alerts.insert(
            times(4, () =>
              sampleAlert({ watcher, receivedAt: new Date(Date.UTC(2026, 2, 1, (turn + writer) % 4)) }),
            ),
          );
          const waiting = await stores.alerts.nextWaiting(watcher, 2);
          await stores.alerts.markForwarded(
            waiting.map(({ id }) => id),
            new Date(),
          );
        }
      });
      const readers = times(4, async () => {
        for (let turn = 0; turn < 5; turn += 1) await stores.statistics.read(null);
      });
      await Promise.all([...writers, ...readers]);
      await expectTruth(stores);
    }));
});
