import type { CompiledRule } from '../../../../activities/signals/rules/compiled-rule.js';
import { compileRule } from '../../../../activities/signals/rules/compile-rule.js';

/** A rule from its filter; `problems` are what its author would be told. */
export function compileForTest(
  filter: unknown,
  more: Record<string, unknown> = {},
): { rule: CompiledRule | null; problems: string[] } {
  const problems: string[] = [];
  const rule = compileRule({ name: 'test', filter, ...more }, (_path, message, weight) =>
    problems.push(`${weight}: ${message}`),
  );
  return { rule, problems };
}

/** The reason for which a filter matches a signal, null when it does not. */
export function reasonFor(filter: unknown, signal: unknown): string | null {
  const { rule, problems } = compileForTest(filter);
  if (rule === null) throw new Error(problems.join('\n'));
  return rule.condition(signal);
}
