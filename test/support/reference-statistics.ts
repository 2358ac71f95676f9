import type { Alert } from '../../schemas/signals/signals.js';

/** Seconds of the durations that the tests use, worked out by hand and not by the code under test. */
export const DURATIONS: Readonly<Record<string, number | null>> = {
  '300ms': 0.3,
  '0h': 0,
  '59m': 3540,
  '59m59s': 3599,
  '1h': 3600,
  '4h': 14_400,
  '4h0m0s': 14_400,
  '23h': 82_800,
  '23h59m59s': 86_399,
  '24h': 86_400,
  '167h59m59s': 604_799,
  '168h': 604_800,
  '720h': 2_592_000,
  soon: null,
};

type Row = Record<string, string | number>;

/** Counts in the most literal way: a sorted list of [key, number of times]. */
function countOf(keys: readonly string[]): [string, number][] {
  return [...new Set(keys)]
    .map((key): [string, number] => [key, keys.filter((other) => other === key).length])
    .sort(([a, x], [b, y]) => (x === y ? (a < b ? -1 : 1) : y - x));
}

/** A signal without a scenario is listed under no name. */
function named(scenarios: readonly string[]): string[] {
  return scenarios.filter((name) => name !== '');
}

function rows(counts: [string, number][], name: string): Row[] {
  return counts.map(([key, count]) => ({ [name]: key, count }));
}

const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];

function buckets(times: readonly string[]) {
  return {
    byDayOfWeek: [0, 1, 2, 3, 4, 5, 6].flatMap((day) => {
      const count = times.filter((time) => new Date(time).getUTCDay() === day).length;
      return count === 0 ? [] : [{ day, dayName: DAYS[day], count }];
    }),
    byHourOfDay: Array.from({ length: 24 }, (_, hour) => hour).flatMap((hour) => {
      const count = times.filter((time) => Number(time.slice(11, 13)) === hour).length;
      return count === 0 ? [] : [{ hour, count }];
    }),
  };
}

function countries(codes: readonly (string | null)[]): Row[] {
  return countOf(codes.filter((code) => code !== null))
    .slice(0, 15)
    .map(([code, count]) => ({ countryCode: code, countryName: code, count }));
}

interface Decision {
  scenario?: unknown;
  duration?: unknown;
}

function categoryOf(seconds: number): string {
  if (seconds < 3600) return '<1h';
  if (seconds < 24 * 3600) return '1-24h';
  return seconds < 7 * 24 * 3600 ? '1-7d' : '>7d';
}

/** The three bodies of the statistics, by counting every alert (proxy spec, section 2). */
export function referenceStatistics(stored: readonly Alert[], since: Date | null) {
  const real = stored.filter((alert) => alert.localAudit !== true);
  const times = (alerts: readonly Alert[]): string[] => alerts.map(({ receivedAt }) => receivedAt).sort();
  const recent = real.filter(({ receivedAt }) => since === null || receivedAt >= since.toISOString());
  const decided = recent.flatMap((alert) =>
    ((JSON.parse(alert.rawJson ?? '{}') as { decisions?: Decision[] }).decisions ?? []).map((decision) => ({
      alert,
      decision,
    })),
  );
  const scenarios = countOf(named(real.map(({ scenario }) => scenario)));
  return {
    stats: {
      total: real.length,
      filtered: real.filter(({ filtered }) => filtered).length,
      forwarded: real.filter(({ forwardedToCapi }) => forwardedToCapi).length,
      topScenarios: rows(scenarios.slice(0, 10), 'scenario'),
      allScenarios: rows(countOf(named(stored.map(({ scenario }) => scenario))).slice(0, 500), 'scenario'),
      topCountries: rows(
        countOf(real.flatMap(({ geoCountryCode }) => geoCountryCode ?? [])).slice(0, 10),
        'country',
      ),
      timeBounds: { min: times(real)[0] ?? null, max: times(real).at(-1) ?? null },
    },
    distribution: {
      ...buckets(times(recent)),
      byCountry: countries(recent.map(({ geoCountryCode }) => geoCountryCode)),
      byScenario: rows(countOf(named(recent.map(({ scenario }) => scenario))).slice(0, 10), 'scenario'),
      dailyTrend: rows(
        countOf(recent.map(({ receivedAt }) => receivedAt.slice(0, 10))).sort(([a], [b]) => (a < b ? -1 : 1)),
        'date',
      ),
      totalAlerts: recent.length,
      dateRange: { from: times(recent)[0] ?? null, to: times(recent).at(-1) ?? null },
    },
    decisions: {
      totalDecisions: decided.length,
      ...buckets(decided.map(({ alert }) => alert.receivedAt)),
      byDurationCategory: rows(
        countOf(
          decided.flatMap(({ decision }) => {
            if (decision.duration === undefined) return [];
            const seconds = DURATIONS[String(decision.duration)];
            if (seconds === undefined) throw new Error(`${String(decision.duration)} is not worked out`);
            return seconds === null ? [] : [categoryOf(seconds)];
          }),
        ),
        'category',
      ),
      topScenarios: rows(
        countOf(
          named(
            decided.flatMap(({ decision: { scenario } }) => (typeof scenario === 'string' ? [scenario] : [])),
          ),
        ).slice(0, 10),
        'scenario',
      ),
      byCountry: countries(decided.map(({ alert }) => alert.geoCountryCode)),
    },
  };
}
