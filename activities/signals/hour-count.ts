import type {
  Count,
  CountryCount,
  DecisionCount,
  HourAggregate,
  RuleMatches,
} from '../../schemas/signals/statistics.js';

/**
 * Names come from clients that push signals, so there may be any number of them, and an aggregate is one record. Of a
 * count with more, the rarest names are left out of the lists; the totals hold.
 */
const MAX_NAMES = 2_000;
const MAX_NAME_BYTES = 256 * 1024;

/** What is counted of an alert. */
export interface CountedAlert {
  scenario: string;
  country: string | null;
  countryName: string | null;
  filtered: boolean;
  forwarded: boolean;
  /** Written by this service itself: counted in `auditScenarios` and nowhere else. */
  audit: boolean;
  receivedAt: Date;
  decisions: readonly DecisionCount[];
  /** The filter rules that matched. */
  matched: readonly string[];
}

type Counts = Map<string, Count>;
type CountryCounts = Map<string, CountryCount>;

/** The numbers of one hour while they are added up, from alerts or from counts of parts of them. */
export interface HourCount {
  add(alert: CountedAlert): void;
  /** Adds what was counted of other alerts of the same hour. */
  merge(part: HourAggregate): void;
  result(): HourAggregate;
}

/** The matches of each rule over these hours; hours of which they are not known count for none. */
export function sumRuleMatches(hours: readonly HourAggregate[]): Map<string, RuleMatches> {
  const rules = new Map<string, RuleMatches>();
  for (const hour of hours) for (const rule of hour.rules ?? []) addRule(rules, rule);
  return rules;
}

export function createHourCount(hour: Date): HourCount {
  const totals = { total: 0, filtered: 0, forwarded: 0, decided: 0 };
  let [first, last]: [Date | null, Date | null] = [null, null];
  let truncated = false;
  const scenarios: Counts = new Map();
  const auditScenarios: Counts = new Map();
  let rules: Map<string, RuleMatches> | null = new Map();
  const countries: CountryCounts = new Map();
  const decided = {
    categories: new Map() as Counts,
    scenarios: new Map() as Counts,
    countries: new Map() as CountryCounts,
  };

  function widen(from: Date | null, to: Date | null): void {
    if (from !== null && (first === null || from < first)) first = from;
    if (to !== null && (last === null || to > last)) last = to;
  }

  function names(counts: Counts): Count[] {
    return limited([...counts.values()], ({ name }) => name);
  }

  function places(counts: CountryCounts): CountryCount[] {
    return limited([...counts.values()], countryKey);
  }

  function limited<Entry extends { count: number }>(
    entries: Entry[],
    nameOf: (entry: Entry) => string,
  ): Entry[] {
    entries.sort((a, b) => b.count - a.count || (nameOf(a) < nameOf(b) ? -1 : 1));
    let bytes = 0;
    const end = entries.findIndex((entry, index) => {
      bytes += Buffer.byteLength(nameOf(entry)) + 50;
      return index >= MAX_NAMES || bytes > MAX_NAME_BYTES;
    });
    if (end === -1) return entries;
    truncated = true;
    return entries.slice(0, end);
  }

  return {
    add(alert) {
      for (const name of new Set(alert.matched)) addRule(rules, { name, count: 1, last: alert.receivedAt });
      if (alert.audit) {
        increase(auditScenarios, alert.scenario, 1);
        return;
      }
      totals.total += 1;
      if (alert.filtered) totals.filtered += 1;
      if (alert.forwarded) totals.forwarded += 1;
      widen(alert.receivedAt, alert.receivedAt);
      increase(scenarios, alert.scenario, 1);
      const { country: code, countryName: name } = alert;
      if (code !== null) increaseCountry(countries, { code, name, count: 1 });
      for (const { scenario, category, count } of alert.decisions) {
        totals.decided += count;
        if (category !== null) increase(decided.categories, category, count);
        if (scenario !== null) increase(decided.scenarios, scenario, count);
        if (code !== null) increaseCountry(decided.countries, { code, name, count });
      }
    },
    merge(part) {
      totals.total += part.total;
      totals.filtered += part.filtered;
      totals.forwarded += part.forwarded;
      totals.decided += part.decisions.total;
      widen(part.first, part.last);
      // A sum of which one part is not known is not known.
      if (part.rules === undefined) rules = null;
      else for (const rule of part.rules) addRule(rules, rule);
      for (const { name, count } of part.scenarios) increase(scenarios, name, count);
      for (const { name, count } of part.auditScenarios) increase(auditScenarios, name, count);
      for (const entry of part.countries) increaseCountry(countries, entry);
      for (const { name, count } of part.decisions.categories) increase(decided.categories, name, count);
      for (const { name, count } of part.decisions.scenarios) increase(decided.scenarios, name, count);
      for (const entry of part.decisions.countries) increaseCountry(decided.countries, entry);
      if (part.truncated === true) truncated = true;
    },
    result() {
      const { total, filtered, forwarded } = totals;
      const aggregate: HourAggregate = {
        hour,
        total,
        filtered,
        forwarded,
        first,
        last,
        scenarios: names(scenarios),
        auditScenarios: names(auditScenarios),
        countries: places(countries),
        decisions: {
          total: totals.decided,
          categories: names(decided.categories),
          scenarios: names(decided.scenarios),
          countries: places(decided.countries),
        },
        ...(rules !== null && { rules: limited([...rules.values()], ({ name }) => name) }),
      };
      return truncated ? { ...aggregate, truncated } : aggregate;
    },
  };
}

/** A signal without a scenario is in the totals and has no name to be listed under. */
function increase(counts: Counts, name: string, count: number): void {
  if (name === '') return;
  const known = counts.get(name);
  if (known === undefined) counts.set(name, { name, count });
  else known.count += count;
}

function addRule(rules: Map<string, RuleMatches> | null, { name, count, last }: RuleMatches): void {
  const known = rules?.get(name);
  if (known === undefined) rules?.set(name, { name, count, last });
  else {
    known.count += count;
    if (last > known.last) known.last = last;
  }
}

function increaseCountry(counts: CountryCounts, entry: CountryCount): void {
  const key = countryKey(entry);
  const known = counts.get(key);
  if (known === undefined) counts.set(key, { ...entry });
  else known.count += entry.count;
}

function countryKey({ code, name }: CountryCount): string {
  return `${code}\n${name ?? ''}`;
}
