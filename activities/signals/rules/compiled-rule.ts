import type { ApiVersion } from '../../../schemas/signals/signals.js';

/** Where an address lies; null for what the database does not tell. */
export interface Place {
  countryCode: string | null;
  countryName: string | null;
  city: string | null;
  region: string | null;
  latitude: number | null;
  longitude: number | null;
  timezone: string | null;
}

/** What a rule may look at beside the signal: `geo.…` after enrichment, and `proxy.…` about the sender. */
export interface Facts {
  geo: Place;
  proxy: { watcher: string; version: ApiVersion };
}

/** Answers the reason when the signal matches, null when it does not. Never throws, never changes the signal. */
export type Condition = (signal: unknown, facts?: Facts) => string | null;

/** A rule file that has been checked and made ready; disabled ones are kept so that they can be shown. */
export interface CompiledRule {
  name: string;
  description: string | null;
  enabled: boolean;
  /** Watchers to which it applies, as names or patterns with stars; null: all of them. */
  watchers: readonly string[] | null;
  /** Whether it applies to a watcher. */
  appliesTo(watcher: string): boolean;
  /** The expression as its author wrote it. */
  filter: unknown;
  /** Where it was read; null for one that stands in the main file or in a request. */
  file: string | null;
  condition: Condition;
}

/** `block`: what matches is held back. `allow`: what matches no rule is held back. */
export const RULE_MODES = ['block', 'allow'] as const;
export type RuleMode = (typeof RULE_MODES)[number];

/** Where in the rule something stands: keys and list positions from the top. */
export type RulePath = readonly (string | number)[];

/**
 * How much is lost. `drop`: the rule cannot be used; `never`: a pattern that cannot be used matches nothing, which is
 * refused only where a rule is being written; `note`: a part of it does nothing and its author should know.
 */
export type FaultWeight = 'drop' | 'never' | 'note';

/** Takes what is wrong with a rule while it is compiled. */
export type Report = (path: RulePath, message: string, weight: FaultWeight) => void;
