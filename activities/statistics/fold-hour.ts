import type {
  AlertGroup,
  Count,
  CountryCount,
  DecisionGroup,
  HourAggregate,
} from '../../schemas/statistics.js';

/**
 * Names come from whoever pushes signals, so there may be any number of them, and an aggregate is one record. Of an
 * hour with more the rarest names are left out of the lists; the totals hold.
 */
const MOST_NAMES = 2_000;
const MOST_BYTES = 256 * 1024;

const increase = <Entry extends { count: number }>(
  entries: Map<string, Entry>,
  key: string,
  entry: Omit<Entry, 'count'>,
  count: number,
): void => {
  const known = entries.get(key);
  if (known === undefined) entries.set(key, { ...entry, count } as Entry);
  else known.count += count;
};

const byCount = <Entry extends { count: number }>(
  nameOf: (entry: Entry) => string,
  entries: Iterable<Entry>,
) => [...entries].sort((a, b) => b.count - a.count || (nameOf(a) < nameOf(b) ? -1 : 1));

/** What alerts and decisions of one hour amount to. */
export const foldHour = (
  hour: Date,
  alerts: readonly AlertGroup[],
  decisions: readonly DecisionGroup[],
): HourAggregate => {
  let [total, filtered, forwarded, decided] = [0, 0, 0, 0];
  let [first, last]: [Date | null, Date | null] = [null, null];
  const maps = {
    scenarios: new Map<string, Count>(),
    auditScenarios: new Map<string, Count>(),
    categories: new Map<string, Count>(),
    decided: new Map<string, Count>(),
    countries: new Map<string, CountryCount>(),
    decidedCountries: new Map<string, CountryCount>(),
  };
  for (const group of alerts) {
    const { count, scenario: name } = group;
    increase(group.audit ? maps.auditScenarios : maps.scenarios, name, { name }, count);
    if (group.audit) continue;
    total += count;
    if (group.filtered) filtered += count;
    if (group.forwarded) forwarded += count;
    if (first === null || group.first < first) first = group.first;
    if (last === null || group.last > last) last = group.last;
    countIn(maps.countries, group);
  }
  for (const group of decisions) {
    if (group.audit) continue;
    const { count, category, scenario } = group;
    decided += count;
    if (category !== null) increase(maps.categories, category, { name: category }, count);
    if (scenario !== null) increase(maps.decided, scenario, { name: scenario }, count);
    countIn(maps.decidedCountries, group);
  }

  let truncated = false;
  const within = <Entry extends { count: number }>(
    sorted: Entry[],
    nameOf: (entry: Entry) => string,
  ): Entry[] => {
    let bytes = 0;
    const end = sorted.findIndex((entry, index) => {
      bytes += Buffer.byteLength(nameOf(entry)) + 50;
      return index >= MOST_NAMES || bytes > MOST_BYTES;
    });
    if (end === -1) return sorted;
    truncated = true;
    return sorted.slice(0, end);
  };
  const names = (entries: Map<string, Count>): Count[] =>
    within(
      byCount(({ name }) => name, entries.values()),
      ({ name }) => name,
    );
  const countryKey = ({ code, name }: CountryCount): string => `${code}\n${name ?? ''}`;
  const countries = (entries: Map<string, CountryCount>): CountryCount[] =>
    within(byCount(countryKey, entries.values()), countryKey);

  const folded = {
    ...{ hour, total, filtered, forwarded, first, last },
    scenarios: names(maps.scenarios),
    auditScenarios: names(maps.auditScenarios),
    countries: countries(maps.countries),
    decisions: {
      total: decided,
      categories: names(maps.categories),
      scenarios: names(maps.decided),
      countries: countries(maps.decidedCountries),
    },
  };
  return truncated ? { ...folded, truncated } : folded;
};

const countIn = (
  countries: Map<string, CountryCount>,
  { country, countryName, count }: Pick<AlertGroup, 'country' | 'countryName' | 'count'>,
): void => {
  if (country === null) return;
  increase(countries, `${country}\n${countryName ?? ''}`, { code: country, name: countryName }, count);
};
