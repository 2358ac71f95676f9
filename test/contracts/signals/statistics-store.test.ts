import { describe, expect, test } from '@jest/globals';
import type { Db } from 'mongodb';
import { createAlertMarks } from '../../../activities/stores/mongo/signals/alert-marks.js';
import { createMongoAlertStore } from '../../../activities/stores/mongo/signals/alert-store.js';
import { createMongoStatisticsStore } from '../../../activities/stores/mongo/signals/statistics-store.js';
import { statsOf } from '../../../api/signals/management/present-statistics.js';
import { createFakeAlertStore } from '../../support/fakes/signals/fake-alert-store.js';
import { createFakeStatisticsStore } from '../../support/fakes/signals/fake-statistics-store.js';
import { until } from '../../support/until.js';
import { sampleAlert, sampleSignal } from './alert-store-samples.js';
import { times } from '../samples.js';
import { everyAlert, expectTruth, idsOf, statisticsContract } from './statistics-store.contract.js';
import type { CountedAlerts } from './statistics-store.contract.js';
import { fake, mongo, openTestDatabase } from '../subject.js';

function fakes(): CountedAlerts {
  const alerts = createFakeAlertStore();
  return { alerts, statistics: createFakeStatisticsStore(alerts) };
}

function onMongo(db: Db): CountedAlerts {
  return {
    alerts: createMongoAlertStore(db),
    statistics: createMongoStatisticsStore(db),
  };
}

statisticsContract(fake(fakes), 100);
for (const subject of mongo(onMongo)) statisticsContract(subject, 8);

type Fault = (run: () => Promise<unknown>) => Promise<unknown>;

/** The same database, with what a test puts around one method of one collection. */
function withFault(db: Db, collection: string, method: string, fault: Fault): Db {
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
}

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

  /** A clock that a test moves. */
  const clockAt = (start: number) => {
    let time = start;
    return { now: () => new Date(time), pass: (ms: number) => (time += ms) };
  };
  /** A statistics store that tells how often it has looked for alerts. */
  const countingReads = (db: Db, now: () => Date) => {
    let reads = 0;
    const counted = withFault(db, 'alerts', 'find', (run) => {
      reads += 1;
      return run();
    });
    return { statistics: createMongoStatisticsStore(counted, now), reads: () => reads };
  };

  test('a process that was killed in a push makes its hours be counted anew for half a minute, and never again', () =>
    withDatabase(async (db, stores) => {
      await stores.alerts.insert(times(2_500, () => sampleAlert()));
      await settled(db, 1);
      let written!: () => void;
      const isWritten = new Promise<void>((resolve) => (written = resolve));
      const never = new Promise<never>(() => undefined);
      const killed = withFault(db, 'alerts', 'insertMany', async (run) => {
        await run();
        written();
        return never;
      });
      // Neither does a dead process keep its marks alive.
      const silent = withFault(killed, 'alert_marks', 'updateMany', () => never);
      void createMongoAlertStore(silent).insert([sampleAlert()]);
      await isWritten;
      const clock = clockAt(Date.now());
      const { statistics, reads } = countingReads(db, clock.now);
      const readsOfALook = async (): Promise<number> => {
        const before = reads();
        expect(statsOf(await statistics.read(null)).total).toBe(2_501);
        return reads() - before;
      };
      expect(await readsOfALook()).toBeGreaterThan(0);
      clock.pass(29_000);
      expect(await readsOfALook()).toBeGreaterThan(0);
      clock.pass(1_000);
      expect(await readsOfALook()).toBeGreaterThan(0);
      expect(await marksOf(db)).toBe(0);
      expect(await readsOfALook()).toBe(0);
      await expectTruth(stores);
    }));

  test('the mark of a long write whose process lives stays, and is settled at its end', () =>
    withDatabase(async (db, stores) => {
      const write = await openWrite(createAlertMarks(db, { beatMs: 10 }), [1], NOON);
      const clock = clockAt(Date.now());
      const statistics = createMongoStatisticsStore(db, clock.now);
      const beats = async () => (await db.collection('alert_marks').findOne({}))?.['beat'] as number;
      for (let look = 0; look < 3; look += 1) {
        await statistics.read(null);
        const seen = await beats();
        await until('the process has told that it lives', async () => (await beats()) > seen + 1);
        clock.pass(40_000);
      }
      await statistics.read(null);
      expect(await marksOf(db)).toBe(1);
      await write.end();
      await settled(db, 1);
      await expectTruth(stores);
      expect(await marksOf(db)).toBe(0);
    }));

  /** A write that goes on until it is told to end. */
  const openWrite = async (marks: ReturnType<typeof createAlertMarks>, ids: number[], time: string) => {
    let end!: () => void;
    let begin!: () => void;
    const ended = new Promise<void>((resolve) => (end = resolve));
    const begun = new Promise<void>((resolve) => (begin = resolve));
    const written = marks.around({ ids, times: [new Date(time)] }, () => {
      begin();
      return ended;
    });
    await begun;
    return {
      end: async () => {
        end();
        await written;
      },
    };
  };
  const NOON = '2026-03-01T12:00:00.000Z';

  test('a writer that was taken for dead announces itself again', () =>
    withDatabase(async (db, stores) => {
      const write = await openWrite(createAlertMarks(db), [1], NOON);
      const later = createMongoStatisticsStore(db, () => new Date(Date.now() + 31 * 60_000));
      await later.read(null);
      expect(await marksOf(db)).toBe(0);
      await write.end();
      await settled(db, 1);
      await expectTruth(stores);
      expect(await marksOf(db)).toBe(0);
    }));

  test('writes at once to the same segments and hours share a mark, which stays open until the last has succeeded', () =>
    withDatabase(async (db, stores) => {
      const marks = createAlertMarks(db);
      const [first, second, later, elsewhere] = await Promise.all([
        openWrite(marks, [1, 2], NOON),
        // The segment after this one is announced as well: the ids of the next pushes.
        openWrite(marks, [1_100], NOON),
        openWrite(marks, [3], '2026-03-01T13:00:00.000Z'),
        openWrite(marks, [2_100], NOON),
      ]);
      expect(await marksOf(db)).toBe(3);
      await Promise.all([elsewhere.end(), later.end(), second.end()]);
      await settled(db, 2);
      await stores.statistics.read(null);
      expect(await marksOf(db)).toBe(1);
      await first.end();
      await settled(db, 1);
      await stores.statistics.read(null);
      expect(await marksOf(db)).toBe(0);
      // No write joins what is over.
      await openWrite(marks, [1], NOON);
      expect(await marksOf(db)).toBe(1);
    }));

  test('the mark of a write that failed stays open, also when others shared it', () =>
    withDatabase(async (db) => {
      const marks = createAlertMarks(db);
      const write = await openWrite(marks, [1], NOON);
      const failing = marks.around({ ids: [1], times: [new Date(NOON)] }, () => Promise.reject(cut));
      await expect(failing).rejects.toThrow(cut);
      await write.end();
      const other = await openWrite(marks, [5_000], NOON);
      await other.end();
      await settled(db, 1);
      expect(await marksOf(db)).toBe(2);
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

  test('a bounded count takes the latest segments first and says that there is more', () =>
    withDatabase(async (db, stores) => {
      await expectTruth(stores);
      for (const hour of times(5, (index) => index))
        await stores.alerts.insert(
          times(1_000, () => sampleAlert({ receivedAt: new Date(Date.UTC(2026, 0, 1, hour)) })),
        );
      await until(
        'the marks are settled',
        async () => (await db.collection('alert_marks').countDocuments({ settled: false })) === 0,
      );
      expect(await stores.statistics.recompute(3)).toEqual({ counted: 3, left: true });
      const kept = await db.collection<{ _id: Date }>('alert_hours').find().sort({ _id: 1 }).toArray();
      expect(kept.map(({ _id }) => _id.getUTCHours())).toContain(4);
      expect(kept.map(({ _id }) => _id.getUTCHours())).not.toContain(0);
      expect(await stores.statistics.recompute(20)).toMatchObject({ left: false });
      expect(await stores.statistics.recompute(20)).toEqual({ counted: 0, left: false });
      await expectTruth(stores);
    }));

  /** Alerts far apart, each in a segment of its own and ten in an hour, in a database without counts. */
  const insertFarApart = async (db: Db, { alerts }: CountedAlerts, count: number) => {
    await alerts.insert([sampleAlert()]);
    await settled(db, 1);
    const stored = db.collection<{ _id: number }>('alerts');
    const { _id, ...sample } = (await stored.findOne({}))!;
    await stored.deleteOne({ _id });
    await stored.insertMany(
      times(count, (index) => ({
        ...sample,
        _id: index * 1_000,
        identity: `far-${index}`,
        received_at: new Date(Date.UTC(2026, 0, 1, Math.floor(index / 10))),
      })),
    );
  };

  test('a mark of more segments than a count takes goes, also of a process that died, and of an older release', () =>
    withDatabase(async (db, stores) => {
      await insertFarApart(db, stores, 6);
      const hours = times(6, (index) => new Date(Date.UTC(2026, 0, 1, index)));
      const segments = times(6, (index) => index);
      const long = new Date(Date.now() - 31 * 60_000);
      const wide = [
        { _id: 'settled', settled: true, hours, segments, at: new Date() },
        { _id: 'dead', settled: false, hours, segments, at: long },
        { _id: 'older', settled: true, hours, at: new Date() },
      ];
      const marks = db.collection<{ _id: string; segments?: number[] }>('alert_marks');
      for (const mark of wide) {
        await stores.statistics.read(null);
        expect(await marksOf(db)).toBe(0);
        await marks.insertOne(mark);
        await db.collection('alert_hours').updateMany({}, { $set: { 'aggregate.total': 7 } });
        const answers = [];
        for (const _turn of times(3, () => null)) answers.push(await stores.statistics.recompute(2));
        expect([mark._id, answers]).toEqual([
          mark._id,
          [
            { counted: 2, left: true },
            { counted: 2, left: true },
            { counted: 2, left: false },
          ],
        ]);
        expect(await marksOf(db)).toBe(0);
        await expectTruth(stores);
      }
    }));

  test('a writer that was taken for dead announces all of its segments again, also where some were counted', () =>
    withDatabase(async (db, stores) => {
      await expectTruth(stores);
      const write = await openWrite(createAlertMarks(db), [1, 1_001, 2_001], NOON);
      const later = createMongoStatisticsStore(db, () => new Date(Date.now() + 31 * 60_000));
      expect(await later.recompute(1)).toEqual({ counted: 1, left: true });
      await write.end();
      await until('the mark is settled', async () => {
        const found = await db.collection('alert_marks').findOne({ settled: true, segments: 3 });
        return (found?.['segments'] as number[] | undefined)?.length === 4;
      });
    }));

  test('what is removed or forwarded from very many segments is announced in parts', () =>
    withDatabase(async (db, stores) => {
      await insertFarApart(db, stores, 60);
      await expectTruth(stores);
      expect(await marksOf(db)).toBe(0);
      const widest = async () => {
        const marks = await db.collection('alert_marks').find().toArray();
        return Math.max(...marks.map(({ segments }) => (segments as number[]).length));
      };
      await stores.alerts.markForwarded(await idsOf(stores.alerts), new Date());
      expect(await marksOf(db)).toBe(2);
      expect(await widest()).toBeLessThanOrEqual(51);
      expect(statsOf(await stores.statistics.read(null))).toMatchObject({ total: 60, forwarded: 60 });
      expect(await stores.alerts.removeOld(new Date(Date.UTC(2026, 0, 2)), 1_000)).toBe(60);
      expect(await widest()).toBeLessThanOrEqual(51);
      await expectTruth(stores);
    }));

  test('an hour of many segments and blocks is their sum, whole and from a time within it on', () =>
    withDatabase(async (db, stores) => {
      const counters = db.collection<{ _id: string; value: number }>('counters');
      for (const index of times(12, (each) => each)) {
        // Far apart: each in a segment of its own, most of them in a block of their own.
        await counters.updateOne({ _id: 'alert' }, { $set: { value: index * 20_500 } }, { upsert: true });
        const receivedAt = (second: number) => new Date(Date.UTC(2026, 2, 1, 12, index * 4, second));
        await stores.alerts.insert(
          times(4, (second) => sampleAlert({ receivedAt: receivedAt(second * 10) })),
        );
      }
      await expectTruth(stores);
      for (const since of [
        '12:00:00',
        '12:00:05',
        '12:11:59',
        '12:24:10',
        '12:24:11',
        '12:59:59',
        '13:00:00',
      ])
        await expectTruth(stores, new Date(`2026-03-01T${since}.000Z`));
    }));

  test('hours that an older release had counted, and its marks, are counted again from the alerts', () =>
    withDatabase(async (db, stores) => {
      await stores.alerts.insert(
        times(6, (index) => sampleAlert({ receivedAt: new Date(Date.UTC(2026, 0, 1, index)) })),
      );
      await settled(db, 1);
      await expectTruth(stores);
      await db.collection('alert_counts').deleteMany({});
      await db.collection<{ _id: string }>('counters').deleteOne({ _id: 'statistics-segments' });
      await db
        .collection<{ _id: string; hours: Date[]; at: Date; settled: boolean }>('alert_marks')
        .insertOne({ _id: 'old', hours: [new Date(Date.UTC(2026, 0, 1, 2))], at: new Date(), settled: true });
      await stores.alerts.insert([sampleAlert({ receivedAt: new Date(Date.UTC(2026, 0, 1, 3)) })]);
      const after: CountedAlerts = { ...stores, statistics: createMongoStatisticsStore(db) };
      await expectTruth(after);
      expect(await db.collection('alert_marks').countDocuments({ _id: { $eq: 'old' as never } })).toBe(0);
    }));

  test('what an older release counted, which knew no rules, is counted again', () =>
    withDatabase(async (db, stores) => {
      const counts = async () =>
        [...(await stores.statistics.ruleMatches()).values()].map(({ name, count }) => [name, count]);
      const alert = (hour: number) =>
        sampleAlert({ matched: ['rule'], receivedAt: new Date(Date.UTC(2026, 0, 1, hour)) });
      await stores.alerts.insert(times(6, alert));
      await settled(db, 1);
      expect(await counts()).toEqual([['rule', 6]]);
      /** As a release without rules writes a count: the whole of it. */
      const forgetRules = async (filter: object) => {
        await db
          .collection('alert_hours')
          .updateMany(filter, { $unset: { 'aggregate.rules': '' }, $inc: { ticket: 1 } });
        await db.collection('alert_counts').updateMany({}, { $unset: { 'aggregate.rules': '' } });
      };
      // Of one hour, while this process runs beside it.
      await forgetRules({ _id: new Date(Date.UTC(2026, 0, 1, 3)) });
      expect(await counts()).toEqual([['rule', 6]]);
      await forgetRules({});
      await stores.alerts.insert([alert(3)]);
      const later = createMongoStatisticsStore(db);
      expect([...(await later.ruleMatches()).values()]).toMatchObject([{ name: 'rule', count: 7 }]);
      expect(await marksOf(db)).toBeLessThanOrEqual(1);
    }));

  test('what a process remembers of an hour is given up when another process counts it anew', () =>
    withDatabase(async (db, stores) => {
      const other = onMongo(db);
      await stores.alerts.insert([sampleAlert()]);
      await expectTruth(stores);
      await other.alerts.insert([sampleAlert()]);
      await expectTruth(other);
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
