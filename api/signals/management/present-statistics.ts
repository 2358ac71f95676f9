import type { Count, CountryCount, HourAggregate } from '../../../schemas/signals/statistics.js';
import type {
  DecisionStatsBody,
  DistributionBody,
  Period,
  StatsBody,
} from '../../../schemas/signals/statistics-api.js';

/** How long the lists are (proxy spec, section 2). */
const TOP = 10;
const COUNTRIES = 15;
const ALL_SCENARIOS = 500;

const DAY_NAMES = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'] as const;

/** Where a period begins: whole calendar days back from now, at the same time of day. Null: no bound. */
export function beginOf(period: Period, now: Date): Date | null {
  if (period === 'all') return null;
  const begin = new Date(now);
  begin.setUTCDate(begin.getUTCDate() - Number.parseInt(period, 10));
  return begin;
}

/** The most frequent first; equal ones by name, so that an answer does not change while nothing else does. */
function ranked(counts: ReadonlyMap<string, number>): Count[] {
  return [...counts]
    .map(([name, count]) => ({ name, count }))
    .sort((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1));
}

function sum(lists: Iterable<readonly Count[]>): Map<string, number> {
  const counts = new Map<string, number>();
  for (const list of lists)
    for (const { name, count } of list) counts.set(name, (counts.get(name) ?? 0) + count);
  return counts;
}

function scenarios(counts: ReadonlyMap<string, number>, most: number) {
  return ranked(counts)
    .slice(0, most)
    .map(({ name, count }) => ({ scenario: name, count }));
}

function byCode(countries: readonly CountryCount[]): Count[] {
  return countries.map(({ code, count }) => ({ name: code, count }));
}

/** One row per country: alerts of before and after GeoIP was switched on belong together. */
function countryRows(lists: readonly (readonly CountryCount[])[]) {
  const names = new Map<string, Map<string, number>>();
  for (const { code, name, count } of lists.flat()) {
    if (name === null) continue;
    const known = names.get(code) ?? new Map<string, number>();
    names.set(code, known.set(name, (known.get(name) ?? 0) + count));
  }
  return ranked(sum(lists.map(byCode)))
    .slice(0, COUNTRIES)
    .map(({ name: code, count }) => ({
      countryCode: code,
      countryName: ranked(names.get(code) ?? new Map())[0]?.name ?? code,
      count,
    }));
}

/** Buckets in ascending order, those without anything left out. */
function bucketsOf(hours: readonly HourAggregate[], countOf: (hour: HourAggregate) => number) {
  const days = new Map<number, number>();
  const times = new Map<number, number>();
  const dates = new Map<string, number>();
  for (const hour of hours) {
    const count = countOf(hour);
    if (count === 0) continue;
    const [day, time] = [hour.hour.getUTCDay(), hour.hour.getUTCHours()];
    const date = hour.hour.toISOString().slice(0, 10);
    days.set(day, (days.get(day) ?? 0) + count);
    times.set(time, (times.get(time) ?? 0) + count);
    dates.set(date, (dates.get(date) ?? 0) + count);
  }
  return {
    byDayOfWeek: [...days]
      .sort(([a], [b]) => a - b)
      .map(([day, count]) => ({ day, dayName: DAY_NAMES[day] ?? '', count })),
    byHourOfDay: [...times].sort(([a], [b]) => a - b).map(([hour, count]) => ({ hour, count })),
    dailyTrend: [...dates].sort(([a], [b]) => (a < b ? -1 : 1)).map(([date, count]) => ({ date, count })),
  };
}

function boundsOf(hours: readonly HourAggregate[]): [string | null, string | null] {
  const [first, last] = [
    hours.find((hour) => hour.first !== null),
    hours.findLast((hour) => hour.last !== null),
  ];
  return [first?.first?.toISOString() ?? null, last?.last?.toISOString() ?? null];
}

function totalOf(hours: readonly HourAggregate[], countOf: (hour: HourAggregate) => number): number {
  return hours.reduce((total, hour) => total + countOf(hour), 0);
}

/** @param hours oldest first, for this function and the two below */
export function statsOf(hours: readonly HourAggregate[]): StatsBody {
  const named = sum(hours.map((hour) => hour.scenarios));
  const [min, max] = boundsOf(hours);
  return {
    total: totalOf(hours, ({ total }) => total),
    filtered: totalOf(hours, ({ filtered }) => filtered),
    forwarded: totalOf(hours, ({ forwarded }) => forwarded),
    topScenarios: scenarios(named, TOP),
    // The list that filters are picked from: with what we did ourselves.
    allScenarios: scenarios(
      sum(hours.flatMap((hour) => [hour.scenarios, hour.auditScenarios])),
      ALL_SCENARIOS,
    ),
    topCountries: ranked(sum(hours.map((hour) => byCode(hour.countries))))
      .slice(0, TOP)
      .map(({ name, count }) => ({ country: name, count })),
    timeBounds: { min, max },
  };
}

export function distributionOf(hours: readonly HourAggregate[]): DistributionBody {
  const [from, to] = boundsOf(hours);
  return {
    ...bucketsOf(hours, ({ total }) => total),
    byCountry: countryRows(hours.map((hour) => hour.countries)),
    byScenario: scenarios(sum(hours.map((hour) => hour.scenarios)), TOP),
    totalAlerts: totalOf(hours, ({ total }) => total),
    dateRange: { from, to },
  };
}

export function decisionStatsOf(hours: readonly HourAggregate[]): DecisionStatsBody {
  const { byDayOfWeek, byHourOfDay } = bucketsOf(hours, ({ decisions }) => decisions.total);
  return {
    totalDecisions: totalOf(hours, ({ decisions }) => decisions.total),
    byDayOfWeek,
    byHourOfDay,
    byDurationCategory: ranked(sum(hours.map(({ decisions }) => decisions.categories))).map(
      ({ name, count }) => ({ category: name, count }),
    ),
    topScenarios: scenarios(sum(hours.map(({ decisions }) => decisions.scenarios)), TOP),
    byCountry: countryRows(hours.map(({ decisions }) => decisions.countries)),
  };
}
