import type { CompiledRule, FilterMode } from './compiled-rule.js';

export interface Verdict {
  filtered: boolean;
  /** Of every rule that matches, in rule order; a signal that passes in allow mode has them as well. */
  reasons: string[];
}

/**
 * Asks every enabled rule, without stopping at the first match, so that all reasons are recorded. In block mode any
 * match holds the signal back, in allow mode the lack of one does (proxy spec, section 3.3).
 */
export const judge = (rules: readonly CompiledRule[], mode: FilterMode, signal: unknown): Verdict => {
  const reasons: string[] = [];
  for (const rule of rules) {
    if (!rule.enabled) continue;
    try {
      const reason = rule.condition(signal);
      if (reason !== null) reasons.push(reason);
    } catch {
      // A condition does not throw; should one all the same, the other rules still decide.
    }
  }
  return { filtered: mode === 'block' ? reasons.length > 0 : reasons.length === 0, reasons };
};
