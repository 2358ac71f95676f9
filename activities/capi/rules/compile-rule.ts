import { compileCondition, isMapping, noteUnknownKeys } from './compile-condition.js';
import type { CompiledRule, Report } from './compiled-rule.js';

/**
 * Checks one rule (`name`, `enabled`, `description`, `filter`) and makes it ready. Null when it cannot be used;
 * why has been reported then. A disabled rule is checked as well, so that switching it on brings no surprise.
 */
export const compileRule = (source: unknown, report: Report): CompiledRule | null => {
  let usable = true;
  const watch: Report = (path, message, weight) => {
    usable &&= weight !== 'drop';
    report(path, message, weight);
  };
  if (!isMapping(source)) {
    watch([], 'a rule must be a mapping with "name" and "filter"', 'drop');
    return null;
  }
  noteUnknownKeys(source, ['name', 'enabled', 'description', 'filter'], [], watch);
  const { name, enabled = true, description = null } = source;
  if (typeof name !== 'string' || name.trim() === '') watch(['name'], 'the rule has no "name"', 'drop');
  if (typeof enabled !== 'boolean') watch(['enabled'], '"enabled" must be true or false', 'drop');
  if (description !== null && typeof description !== 'string')
    watch(['description'], '"description" is not a text and ignored', 'note');
  if (!Object.hasOwn(source, 'filter')) watch(['filter'], 'the rule has no "filter"', 'drop');
  const condition = Object.hasOwn(source, 'filter')
    ? compileCondition(source['filter'], ['filter'], watch)
    : () => null;
  if (!usable) return null;
  return {
    name: String(name),
    description: typeof description === 'string' ? description : null,
    enabled: enabled === true,
    condition,
  };
};
