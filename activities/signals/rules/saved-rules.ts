import type { SavedRuleSet } from '../../../schemas/signals/saved-rules.js';
import type { CompiledRule } from './compiled-rule.js';
import type { RuleFault } from './load-rules.js';
import { parseRuleFile } from './parse-rule-file.js';

/** In the place of a file's name, where a saved rule has a fault. */
const PLACE = 'saved rules';

/** A later release may refuse what an earlier one has saved: the others hold, and the fault is told. */
export function readSavedRules({ texts }: Pick<SavedRuleSet, 'texts'>): {
  rules: CompiledRule[];
  faults: RuleFault[];
} {
  const read = texts.map((text) => parseRuleFile(text));
  return {
    rules: read.flatMap(({ rule }) => rule ?? []),
    faults: read.flatMap(({ problems }, index) =>
      problems.map((message) => ({ file: `${PLACE}, ${index + 1}`, message })),
    ),
  };
}

/** A saved rule stands where the rule of its name stood that it takes the place of; the others come last. */
export function withSavedRules(
  ofFiles: readonly CompiledRule[],
  saved: readonly CompiledRule[],
): CompiledRule[] {
  const byName = new Map(saved.map((rule) => [rule.name, rule]));
  const names = new Set(ofFiles.map(({ name }) => name));
  return [
    ...ofFiles.map((rule) => byName.get(rule.name) ?? rule),
    ...saved.filter(({ name }) => !names.has(name)),
  ];
}
