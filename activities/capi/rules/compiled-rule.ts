/** Answers the reason when the signal matches, null when it does not. Never throws, never changes the signal. */
export type Condition = (signal: unknown) => string | null;

/** A rule file that has been checked and made ready; disabled ones are kept so that they can be shown. */
export interface CompiledRule {
  name: string;
  description: string | null;
  enabled: boolean;
  condition: Condition;
}

/** `block`: what matches is held back. `allow`: what matches no rule is held back. */
export const FILTER_MODES = ['block', 'allow'] as const;
export type FilterMode = (typeof FILTER_MODES)[number];

/** Where in the rule something stands: keys and list positions from the top. */
export type RulePath = readonly (string | number)[];

/**
 * Takes what is wrong with a rule while it is compiled. `drop`: the rule cannot be used; `note`: it can, but a
 * part of it does nothing and its author should know.
 */
export type Report = (path: RulePath, message: string, weight: 'drop' | 'note') => void;
