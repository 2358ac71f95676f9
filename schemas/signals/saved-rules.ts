/** Rules that are saved over the API, in versions. */

export const SAVED_RULE_LIMITS = {
  rules: 200,
  /** Of one rule's text, in characters. */
  text: 64_000,
  /** Of all of them. */
  total: 2_000_000,
  note: 200,
  /** The newest versions; older ones go. */
  versions: 100,
} as const;

export interface SavedRuleSetHead {
  /** Counts from 1. */
  version: number;
  savedAt: Date;
  /** The name of the key. */
  savedBy: string;
  /** What the change was for, for people. */
  note: string | null;
  rules: number;
}

export interface SavedRuleSet extends Omit<SavedRuleSetHead, 'rules'> {
  /** Each as a rule file would say it. */
  texts: string[];
}
