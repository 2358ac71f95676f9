/** The numbers of the management side: what an hour of stored alerts amounts to. All times are UTC. */

/** Length classes of a decision, shortest first (proxy spec, section 2). */
export const DURATION_CATEGORIES = ['<1h', '1-24h', '1-7d', '>7d'] as const;
export type DurationCategory = (typeof DURATION_CATEGORIES)[number];

/** Decisions of one alert that look alike. Null where the decision does not tell. */
export interface DecisionCount {
  scenario: string | null;
  category: DurationCategory | null;
  count: number;
}

export interface Count {
  name: string;
  count: number;
}

/** By code and name together: the name comes from GeoIP and may have been unknown when the alert was stored. */
export interface CountryCount {
  code: string;
  name: string | null;
  count: number;
}

/** What a filter rule matched. */
export interface RuleMatches {
  name: string;
  count: number;
  /** When the last of them was received. */
  last: Date;
}

/** What the alerts received in one hour amount to. Audit rows count in `auditScenarios` and, like all, in `rules`. */
export interface HourAggregate {
  /** Begin of the hour. */
  hour: Date;
  total: number;
  filtered: number;
  forwarded: number;
  /** When the first and the last of them were received; null when there are none. */
  first: Date | null;
  last: Date | null;
  scenarios: Count[];
  auditScenarios: Count[];
  countries: CountryCount[];
  decisions: {
    total: number;
    categories: Count[];
    scenarios: Count[];
    countries: CountryCount[];
  };
  /** Missing in what a release before counted, which knew no rules. */
  rules?: RuleMatches[];
  /** There when an hour had so many different names that the rarest were left out of its lists. */
  truncated?: true;
}

export const HOUR_MS = 3_600_000;

export function hourOf(time: Date): Date {
  return new Date(Math.floor(time.getTime() / HOUR_MS) * HOUR_MS);
}
