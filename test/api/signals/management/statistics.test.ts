import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mintToken } from '../../../../deploy/stand-in-capi/stand-in-token.js';
import { referenceStatistics } from '../../../support/reference-statistics.js';
import { sampleSignal } from '../../../support/signal-client.js';
import { startProxy } from '../../support/start-proxy.js';
import type { Proxy } from '../../support/start-proxy.js';

const NOW = Date.UTC(2026, 10, 21, 8, 30);
const DAY_MS = 86_400_000;

let proxy: Proxy;
let clock = NOW;

async function answer(path: string, init: Parameters<Proxy['ask']>[1] = {}) {
  const response = await proxy.ask(path, init);
  return { status: response.status, body: await response.json() };
}

async function pushAt(time: number, ...overrides: Record<string, unknown>[]): Promise<void> {
  clock = time;
  const batch = overrides.map((each, index) => ({ ...sampleSignal(index), ...each }));
  const response = await proxy.push(batch, { token: mintToken('w1').token });
  expect(response.status).toBe(200);
  clock = NOW;
}

function from(cn: string | undefined) {
  return { scope: 'Ip', value: '203.0.113.1', ip: '203.0.113.1', cn };
}

function lasting(...durations: (string | undefined)[]) {
  return durations.map((duration) => ({ scenario: 'd/x', duration, type: 'ban' }));
}

beforeAll(async () => {
  proxy = await startProxy({
    now: () => new Date(clock),
    rules: [{ name: 'quiet', filter: { field: 'scenario', op: 'eq', value: 'a/quiet' } }],
  });
});
afterAll(() => proxy.close());

const PATHS = ['/api/stats', '/api/stats/distribution', '/api/stats/decisions'] as const;

describe('the statistics before anything is stored', () => {
  it('are zeros, empty lists and null bounds', async () => {
    expect(await answer('/api/stats')).toEqual({
      status: 200,
      body: {
        total: 0,
        filtered: 0,
        forwarded: 0,
        topScenarios: [],
        allScenarios: [],
        topCountries: [],
        timeBounds: { min: null, max: null },
      },
    });
    expect((await answer('/api/stats/distribution')).body).toEqual({
      byDayOfWeek: [],
      byHourOfDay: [],
      byCountry: [],
      byScenario: [],
      dailyTrend: [],
      totalAlerts: 0,
      dateRange: { from: null, to: null },
    });
    expect((await answer('/api/stats/decisions')).body).toEqual({
      totalDecisions: 0,
      byDayOfWeek: [],
      byHourOfDay: [],
      byDurationCategory: [],
      topScenarios: [],
      byCountry: [],
    });
  });
});

describe('with alerts of many days', () => {
  beforeAll(async () => {
    // A Sunday, a minute before its last hour ends; more than 30 days ago.
    await pushAt(Date.UTC(2026, 9, 18, 23, 59), { scenario: 'b/old', source: from('JP') });
    // Exactly 30 days ago, and a moment before that.
    await pushAt(NOW - 30 * DAY_MS, { scenario: 'b/edge', source: from('FR') });
    await pushAt(NOW - 30 * DAY_MS - 1, { scenario: 'b/over-the-edge', source: from('FR') });
    await pushAt(NOW - 7 * DAY_MS, { scenario: 'b/week', decisions: lasting('168h') });
    await pushAt(NOW - 7 * DAY_MS - 1, { scenario: 'b/before-the-week', decisions: lasting('24h') });
    await pushAt(
      NOW - 60_000,
      { scenario: 'a/quiet', source: from(undefined), decisions: [] },
      { scenario: 'a/ssh-bf', source: from('DE'), decisions: lasting('4h0m0s', '59m', undefined, 'soon') },
      { scenario: 'a/http', source: from('DE'), decisions: lasting('23h59m59s') },
      // The same again under another identity, so that counts differ.
      { scenario: 'a/http', source: from('FR'), decisions: lasting('1h') },
    );
    await proxy.stores.alerts.markForwarded([7], new Date(NOW));
  });

  it('counts all of them', async () => {
    expect((await answer('/api/stats')).body).toEqual({
      total: 9,
      filtered: 1,
      forwarded: 1,
      topScenarios: [
        { scenario: 'a/http', count: 2 },
        ...['a/quiet', 'a/ssh-bf', 'b/before-the-week', 'b/edge', 'b/old', 'b/over-the-edge', 'b/week'].map(
          (scenario) => ({ scenario, count: 1 }),
        ),
      ],
      allScenarios: expect.any(Array),
      topCountries: [
        { country: 'FR', count: 5 },
        { country: 'DE', count: 2 },
        { country: 'JP', count: 1 },
      ],
      timeBounds: { min: '2026-10-18T23:59:00.000Z', max: '2026-11-21T08:29:00.000Z' },
    });
  });

  it('looks back 30 days unless told otherwise, to the millisecond', async () => {
    const month = await answer('/api/stats/distribution');
    expect(month.body).toMatchObject({
      totalAlerts: 7,
      dateRange: { from: '2026-10-22T08:30:00.000Z', to: '2026-11-21T08:29:00.000Z' },
      byDayOfWeek: [
        { day: 4, dayName: 'Thu', count: 1 },
        { day: 6, dayName: 'Sat', count: 6 },
      ],
      byHourOfDay: [{ hour: 8, count: 7 }],
      dailyTrend: [
        { date: '2026-10-22', count: 1 },
        { date: '2026-11-14', count: 2 },
        { date: '2026-11-21', count: 4 },
      ],
    });
    expect(await answer('/api/stats/distribution?period=30d')).toEqual(month);
    expect((await answer('/api/stats/distribution?period=7d')).body).toMatchObject({ totalAlerts: 5 });
    const all = (await answer('/api/stats/distribution?period=all')).body;
    expect(all).toMatchObject({
      totalAlerts: 9,
      byDayOfWeek: [{ day: 0, dayName: 'Sun', count: 1 }, {}, {}],
    });
  });

  it('counts decisions by their parsed duration, and leaves out what is none', async () => {
    expect((await answer('/api/stats/decisions?period=7d')).body).toMatchObject({
      totalDecisions: 7,
      byDurationCategory: [
        { category: '1-24h', count: 3 },
        { category: '<1h', count: 1 },
        { category: '>7d', count: 1 },
      ],
      topScenarios: [{ scenario: 'd/x', count: 7 }],
      byCountry: [
        { countryCode: 'DE', countryName: 'DE', count: 5 },
        { countryCode: 'FR', countryName: 'FR', count: 2 },
      ],
    });
  });

  it('agrees with a full count', async () => {
    const stored = await proxy.stores.alerts.list({ limit: 1000, offset: 0 });
    for (const [period, since] of [
      ['7d', new Date(NOW - 7 * DAY_MS)],
      ['30d', new Date(NOW - 30 * DAY_MS)],
      ['all', null],
    ] as const) {
      const expected = referenceStatistics(stored, since);
      expect((await answer('/api/stats')).body).toEqual(expected.stats);
      expect((await answer(`/api/stats/distribution?period=${period}`)).body).toEqual(expected.distribution);
      expect((await answer(`/api/stats/decisions?period=${period}`)).body).toEqual(expected.decisions);
    }
  });
});

describe('with more names than a list holds', () => {
  it('keeps the lists at their lengths', async () => {
    const letters = 'ABCDEFGHIJKLMNOPQRST';
    const many = Array.from({ length: 600 }, (_, index) => ({
      scenario: `many/${index}`,
      source: from(`Z${letters[index % letters.length]}`),
      decisions: [{ scenario: `many/${index}`, duration: '1h' }],
    }));
    await pushAt(NOW - 1000, ...many);
    const stats = (await answer('/api/stats')).body as Record<string, unknown[]>;
    const distribution = (await answer('/api/stats/distribution')).body as Record<string, unknown[]>;
    const decisions = (await answer('/api/stats/decisions')).body as Record<string, unknown[]>;
    expect(stats['topScenarios']).toHaveLength(10);
    expect(stats['allScenarios']).toHaveLength(500);
    expect(stats['topCountries']).toHaveLength(10);
    expect(distribution['byScenario']).toHaveLength(10);
    expect(distribution['byCountry']).toHaveLength(15);
    expect(decisions['topScenarios']).toHaveLength(10);
    expect(decisions['byCountry']).toHaveLength(15);
  });
});

describe('bad input and faults', () => {
  it.each(PATHS)('%s asks for the key first', async (path) => {
    for (const key of [null, 'wrong'])
      expect(await answer(`${path}?period=nonsense`, { key })).toEqual({
        status: 401,
        body: { error: 'Unauthorized' },
      });
  });

  it.each(['1d', '', 'ALL', '30', '7d&period=7d'])('refuses the period %j', async (period) => {
    for (const path of PATHS.slice(1))
      expect(await answer(`${path}?period=${period}`)).toEqual({
        status: 400,
        body: { error: 'querystring/period must be equal to constant' },
      });
    expect((await answer(`/api/stats?period=${period}`)).status).toBe(200);
  });

  it('says no more than which of them failed', async () => {
    const read = () => Promise.reject(new Error('hunter2'));
    const broken = await startProxy({
      adapt: () => ({
        statistics: {
          read,
          ruleMatches: async () => new Map(),
          recompute: async () => ({ counted: 0, left: false }),
          forget: async () => {},
        },
      }),
    });
    const errors = [
      'Failed to get stats',
      'Failed to get distribution stats',
      'Failed to get decision stats',
    ];
    for (const [index, path] of PATHS.entries()) {
      const response = await broken.ask(path);
      expect([response.status, await response.json()]).toEqual([500, { error: errors[index] }]);
    }
    await broken.close();
  });
});
