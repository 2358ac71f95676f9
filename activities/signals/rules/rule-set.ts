import { createHash } from 'node:crypto';
import type { CompiledRule, FilterMode } from './compiled-rule.js';
import type { RuleFault } from './load-rules.js';

/** The rules in force, and what could not be used of the files. */
export interface RuleSet {
  rules: readonly CompiledRule[];
  mode: FilterMode;
  faults: readonly RuleFault[];
  /** Changes with what the rules say, and with nothing else; each alert is stored with the one that judged it. */
  version: string;
  loadedAt: Date;
}

/** The same rules in the same order have the same version, on every gateway. */
export const ruleSetVersion = (mode: FilterMode, rules: readonly CompiledRule[]): string => {
  const content = rules.map(({ name, enabled, watchers, filter }) => ({ name, enabled, watchers, filter }));
  return createHash('sha256')
    .update(JSON.stringify([mode, content]))
    .digest('hex')
    .slice(0, 12);
};
