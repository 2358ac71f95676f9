import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { AlertStore, StatisticsStore } from '../../../activities/ports/signals.js';
import {
  decisionStatsOf,
  distributionOf,
  statsOf,
} from '../../../api/signals/management/present-statistics.js';
import type { Alert, NewAlert } from '../../../schemas/signals/signals.js';
import { DURATIONS, referenceStatistics } from '../../support/reference-statistics.js';
import { until } from '../../support/until.js';
import { sampleAlert, sampleSignal } from './alert-store-samples.js';
import { times } from '../samples.js';
import type { Subject } from '../subject.js';

export interface CountedAlerts {
  alerts: AlertStore;
  statistics: StatisticsStore;
}

export function everyAlert(alerts: AlertStore): Promise<Alert[]> {
  return alerts.list({ limit: 1_000_000, offset: 0 });
}

/** Asks for all three bodies, and counts every alert for comparison. */
export async function expectTruth(
  { alerts, statistics }: CountedAlerts,
  since: Date | null = null,
): Promise<void> {
  const counted = {
    stats: statsOf(await statistics.read(null)),
    distribution: distributionOf(await statistics.read(since)),
    decisions: decisionStatsOf(await statistics.read(since)),
  };
  expect(counted).toEqual(referenceStatistics(await everyAlert(alerts), since));
}

/** Ids of the alerts in the order in which they were stored. */
export async function idsOf(alerts: AlertStore): Promise<number[]> {
  return (await everyAlert(alerts)).map(({ id }) => id).sort((a, b) => a - b);
}

/** Alerts over three days, many of them near the borders of hours, and many alike. */
const alertArbitrary = fc
  .record({
    minutes: fc.oneof(fc.integer({ min: 0, max: 4_319 }), fc.constantFrom(0, 59, 60, 1_439, 1_440, 4_319)),
    ms: fc.constantFrom(0, 1, 59_999, 30_000),
    scenario: fc.oneof(
      fc.constantFrom('a/ssh-bf', 'a/http', 'é/ü', '$where', 'a.b', ''),
      fc.integer({ min: 0, max: 30 }).map((index) => `s/${index}`),
    ),
    cn: fc.oneof(fc.constant(undefined), fc.constantFrom('FR', 'DE', ''), fc.stringMatching(/^[A-H][A-H]$/)),
    state: fc.constantFrom<NewAlert['state']>('filtered', 'withheld', 'waiting', 'quarantined'),
    decisions: fc.array(
      fc.record({
        scenario: fc.constantFrom('a/ssh-bf', 'd/1', 'd/2', undefined),
        duration: fc.oneof(fc.constantFrom(...Object.keys(DURATIONS)), fc.constant(undefined)),
      }),
      { maxLength: 4 },
    ),
    audit: fc.integer({ min: 0, max: 9 }).map((dice) => dice === 0),
  })
  .map(({ minutes, ms, scenario, cn, state, decisions, audit }): NewAlert => {
    const signal = sampleSignal({ scenario, source: { scope: 'Ip', value: '192.0.2.1', cn }, decisions });
    const alert = sampleAlert({
      signal,
      state,
      watcher: `w-${randomUUID()}`,
      receivedAt: new Date(Date.UTC(2026, 1, 27, 22, minutes, 0, ms)),
    });
    return { ...alert, fields: { ...alert.fields, localAudit: audit } };
  });

/** What every store of statistics promises: the numbers are those of a full count, whatever was done before. */
export function statisticsContract(subject: Subject<CountedAlerts>, runs: number): void {
  const withStores = async (use: (stores: CountedAlerts) => Promise<void>): Promise<void> => {
    const { store, close } = await subject.open();
    try {
      await use(store);
    } finally {
      await close();
    }
  };

  describe(`statistics store (${subject.name})`, () => {
    test('nothing stored: nothing counted', () =>
      withStores(async (stores) => {
        expect(await stores.statistics.read(null)).toEqual([]);
        expect(await stores.statistics.read(new Date('2026-01-01T00:30:00Z'))).toMatchObject(
          subject.name === 'fake' ? [] : [{ total: 0 }],
        );
        await expectTruth(stores, new Date('2026-01-01T00:30:00Z'));
      }));

    test('one alert', () =>
      withStores(async (stores) => {
        const signal = sampleSignal({ decisions: [{ scenario: 'd', duration: '4h' }] });
        await stores.alerts.insert([sampleAlert({ signal })]);
        const at = new Date('2026-03-01T12:00:00.000Z');
        expect(await stores.statistics.read(null)).toEqual([
          {
            hour: at,
            total: 1,
            filtered: 0,
            forwarded: 0,
            first: at,
            last: at,
            scenarios: [{ name: 'crowdsecurity/ssh-bf', count: 1 }],
            auditScenarios: [],
            countries: [{ code: 'FR', name: null, count: 1 }],
            decisions: {
              total: 1,
              categories: [{ name: '1-24h', count: 1 }],
              scenarios: [{ name: 'd', count: 1 }],
              countries: [{ code: 'FR', name: null, count: 1 }],
            },
            rules: [],
          },
        ]);
      }));

    test('an alert without a scenario counts, and is listed under no name', () =>
      withStores(async (stores) => {
        const [named, nameless] = times(2, () => sampleAlert());
        nameless!.fields.scenario = '';
        await stores.alerts.insert([named!, nameless!]);
        expect(await stores.statistics.read(null)).toMatchObject([
          { total: 2, scenarios: [{ name: 'crowdsecurity/ssh-bf', count: 1 }] },
        ]);
      }));

    test('alerts of one country before and after its name was known are one row', () =>
      withStores(async (stores) => {
        const batch = times(5, () => sampleAlert());
        batch.forEach((alert, index) => {
          if (index > 2) alert.fields.geoCountryName = 'France';
        });
        await stores.alerts.insert(batch);
        expect(distributionOf(await stores.statistics.read(null)).byCountry).toEqual([
          { countryCode: 'FR', countryName: 'France', count: 5 },
        ]);
      }));

    test('what each rule matched is counted over all alerts that are stored, with the last time', () =>
      withStores(async ({ alerts, statistics }) => {
        const at = (minutes: number) => new Date(Date.UTC(2026, 2, 1, 10, minutes));
        const matches = async () =>
          Object.fromEntries(
            [...(await statistics.ruleMatches())].map(([name, { count, last }]) => [name, [count, last]]),
          );
        expect(await matches()).toEqual({});
        const state = 'filtered';
        await alerts.insert([
          sampleAlert({ matched: ['first', 'second'], ruleSet: 'v', receivedAt: at(59), state }),
          sampleAlert({ matched: ['first'], receivedAt: at(58), state }),
          sampleAlert({ matched: ['first'], receivedAt: at(130) }),
          sampleAlert({ matched: [] }),
          sampleAlert(),
        ]);
        expect(await matches()).toEqual({ first: [3, at(130)], second: [1, at(59)] });
        await alerts.insert([
          sampleAlert({ matched: ['$where', 'a.b', 'second'], receivedAt: at(61), state }),
        ]);
        expect(await matches()).toEqual({
          first: [3, at(130)],
          second: [2, at(61)],
          $where: [1, at(61)],
          'a.b': [1, at(61)],
        });
        expect(await alerts.removeOld(at(60), 10)).toBe(2);
        expect(await matches()).toMatchObject({ first: [1, at(130)], second: [1, at(61)] });
      }));

    test('what happens to alerts later is counted: offered twice, forwarded, quarantined, removed', () =>
      withStores(async (stores) => {
        const { alerts, statistics } = stores;
        const at = (minutes: number) => new Date(Date.UTC(2026, 2, 1, 10, minutes));
        const batch = times(40, (index) =>
          sampleAlert({ receivedAt: at(index * 5), state: index % 5 === 0 ? 'filtered' : 'waiting' }),
        );
        await alerts.insert(batch);
        await expectTruth(stores, at(92));
        await alerts.insert(batch);
        await expectTruth(stores, at(92));
        const ids = await idsOf(alerts);
        await alerts.markForwarded(ids.slice(3, 20), at(300));
        await expectTruth(stores, at(92));
        await alerts.markForwarded(ids.slice(3, 20), at(301));
        await alerts.quarantine(ids[21] ?? 0, 'refused');
        await expectTruth(stores, at(92));
        expect(await alerts.removeOld(at(120), 9)).toBe(9);
        await expectTruth(stores, at(92));
        expect(await alerts.removeOld(at(120), 1_000)).toBeGreaterThan(0);
        await expectTruth(stores, at(92));
        expect(await alerts.removeOld(at(120), 1_000)).toBe(0);
        await statistics.forget(at(120));
        await expectTruth(stores, at(92));
      }));

    test('counts of a bounded size come to an end, also where one write touched more than such a count takes', () =>
      withStores(async (stores) => {
        const { alerts, statistics } = stores;
        await expectTruth(stores);
        await alerts.insert(times(1_500, () => sampleAlert({ state: 'filtered' })));
        const countAll = () =>
          until('nothing is left to be counted', async () => !(await statistics.recompute(1)).left);
        await countAll();
        await expectTruth(stores);
        expect(await alerts.removeOld(new Date(), 1_400)).toBe(1_400);
        await countAll();
        await expectTruth(stores);
      }));

    test('what is given up is counted as stored, and as forwarded where CAPI took it meanwhile', () =>
      withStores(async (stores) => {
        const { alerts, statistics } = stores;
        const watcher = `w-${randomUUID()}`;
        await alerts.insert(times(6, () => sampleAlert({ watcher })));
        await expectTruth(stores);
        const [first = 0, second = 0, third = 0] = await idsOf(alerts);
        const [sent] = await alerts.readWaiting([first]);
        const given = { reason: 'gone', receivedUntil: new Date(), limit: 5 };
        expect(await alerts.discardWaiting(watcher, given)).toMatchObject({ discarded: 5 });
        await expectTruth(stores);
        await alerts.markForwarded([first], new Date(), [sent!.receivedAt]);
        await expectTruth(stores);
        await alerts.markForwarded([second, third], new Date());
        await expectTruth(stores);
        expect(statsOf(await statistics.read(null))).toMatchObject({ total: 6, forwarded: 3 });
      }));

    test(
      'the numbers of any alerts are those of a full count',
      () =>
        fc.assert(
          fc.asyncProperty(
            fc.array(alertArbitrary, { maxLength: 60 }),
            fc.array(fc.nat({ max: 80 }), { maxLength: 20 }),
            fc.integer({ min: -1, max: 4_400 }),
            (stored, forwarded, sinceMinutes) =>
              withStores(async (stores) => {
                const half = Math.floor(stored.length / 2);
                const since =
                  sinceMinutes < 0 ? null : new Date(Date.UTC(2026, 1, 27, 22, sinceMinutes, 0, 1));
                await stores.alerts.insert(stored.slice(0, half));
                await expectTruth(stores, since);
                await stores.alerts.insert(stored.slice(half));
                const ids = await idsOf(stores.alerts);
                await stores.alerts.markForwarded(
                  forwarded.flatMap((index) => ids[index] ?? []),
                  new Date('2026-03-05T00:00:00Z'),
                );
                await expectTruth(stores, since);
              }),
          ),
          { numRuns: runs },
        ),
      120_000,
    );
  });
}
