import { isObject } from '../../../schemas/is-object.js';
import { firstCharacters } from '../../text/sentences.js';
import { compileCondition, noteUnknownKeys } from './compile-condition.js';
import type { CompiledRule, Condition, Report, RulePath } from './compiled-rule.js';
import { globPattern } from './glob-pattern.js';

/** More than conditions may have; a rule is also written as JSON, which has an end of its own. */
const MAX_DEPTH = 100;

/** Where a value is nested too deeply, or holds itself; null where it is neither. */
function findEndless(
  value: unknown,
  path: RulePath = [],
  holders: ReadonlySet<unknown> = new Set(),
): RulePath | null {
  if (typeof value !== 'object' || value === null) return null;
  if (path.length > MAX_DEPTH || holders.has(value)) return path;
  const within = new Set(holders).add(value);
  for (const [key, inner] of Object.entries(value)) {
    const found = findEndless(inner, [...path, Array.isArray(value) ? Number(key) : key], within);
    if (found !== null) return found;
  }
  return null;
}

/** It is stored with each signal that matches, and lists of signals show it. */
const REASON_LENGTH_LIMIT = 1_000;

function withShortReason(condition: Condition): Condition {
  return (signal, facts) => {
    const reason = condition(signal, facts);
    if (reason === null || reason.length <= REASON_LENGTH_LIMIT) return reason;
    return `${firstCharacters(reason, REASON_LENGTH_LIMIT - 1)}…`;
  };
}

function requireEnd(source: unknown, report: Report): void {
  const endless = findEndless(source);
  if (endless !== null)
    report(endless, `this is nested deeper than ${MAX_DEPTH} levels, or holds itself by an alias`, 'drop');
}

/**
 * Checks one rule (`name`, `enabled`, `description`, `watchers`, `filter`) and makes it ready. Null when it cannot be
 * used; why has been reported then. A disabled rule is checked as well, so that switching it on brings no surprise.
 */
export function compileRule(source: unknown, report: Report): CompiledRule | null {
  let usable = true;
  const watch: Report = (path, message, weight) => {
    usable &&= weight !== 'drop';
    report(path, message, weight);
  };
  if (!isObject(source)) {
    watch([], 'a rule must be a mapping with "name" and "filter"', 'drop');
    return null;
  }
  noteUnknownKeys(source, ['name', 'enabled', 'description', 'watchers', 'filter'], [], watch);
  const { name, enabled = true, description = null, watchers = null } = source;
  if (typeof name !== 'string' || name.trim() === '') watch(['name'], 'the rule has no "name"', 'drop');
  if (typeof enabled !== 'boolean') watch(['enabled'], '"enabled" must be true or false', 'drop');
  if (description !== null && typeof description !== 'string')
    watch(['description'], '"description" is not a text and ignored', 'note');
  const scope = compileScope(watchers, watch);
  if (!Object.hasOwn(source, 'filter')) watch(['filter'], 'the rule has no "filter"', 'drop');
  const condition = Object.hasOwn(source, 'filter')
    ? compileCondition(source['filter'], ['filter'], watch)
    : () => null;
  if (usable) requireEnd(source, watch);
  if (!usable) return null;
  return {
    name: String(name),
    description: typeof description === 'string' ? description : null,
    enabled: enabled === true,
    ...scope,
    filter: source['filter'],
    file: null,
    condition: withShortReason(condition),
  };
}

/** `watchers`: a name, or a list of them; stars stand for anything. */
function compileScope(watchers: unknown, report: Report): Pick<CompiledRule, 'watchers' | 'appliesTo'> {
  if (watchers === null) return { watchers: null, appliesTo: () => true };
  const names: unknown[] = Array.isArray(watchers) ? watchers : [watchers];
  const usable = names.filter((name): name is string => typeof name === 'string' && name.trim() !== '');
  if (usable.length === 0 || usable.length < names.length)
    report(['watchers'], '"watchers" must be a name or a list of names', 'drop');
  const tests = usable.flatMap((name) => {
    const test = globPattern(name);
    if (typeof test !== 'string') return [test];
    report(['watchers'], `"watchers" cannot use ${JSON.stringify(name)}: it ${test}`, 'drop');
    return [];
  });
  return { watchers: usable, appliesTo: (watcher) => tests.some((test) => test(watcher)) };
}
