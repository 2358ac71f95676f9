import { cidrRanges } from './cidr-range.js';
import type { FaultWeight } from './compiled-rule.js';
import { globPattern } from './glob-pattern.js';
import { isInternalAddress } from './internal-address.js';
import { regexPattern } from './regex-pattern.js';

/** Answers the reason without the field's name when the value found matches, null otherwise. */
export type Operator = (found: unknown) => string | null;

/** Makes an operator from the rule's `value`. `note` tells the author of a part that never matches. */
type CompileOperator = (
  value: unknown,
  note: (message: string, weight?: Exclude<FaultWeight, 'drop'>) => void,
) => Operator;

/** What is wrong with a rule's value; the message completes the sentence "<operator> …". */
export class ValueProblem extends Error {}

type Scalar = string | number | boolean | null;

function isScalar(value: unknown): value is Scalar {
  return value === null || ['string', 'boolean'].includes(typeof value) || Number.isFinite(value);
}

function scalar(value: unknown): Scalar {
  if (isScalar(value)) return value;
  throw new ValueProblem('needs a value that is a text, a number, true, false or null');
}

function text(value: unknown): string {
  if (typeof value === 'string') return value;
  throw new ValueProblem('needs a value that is a text');
}

function texts(value: unknown): string[] {
  const list: unknown[] = Array.isArray(value) ? value : [value];
  if (list.length > 0 && list.every((entry) => typeof entry === 'string')) return list;
  throw new ValueProblem('needs a value that is a text or a list of texts');
}

function equality(wanted: boolean): CompileOperator {
  return (value) => {
    const expected = scalar(value);
    const reason = `${wanted ? 'equals' : 'not equals'} ${JSON.stringify(expected)}`;
    return (found) => ((found === expected) === wanted ? reason : null);
  };
}

function comparison(sign: string, holds: (found: number, limit: number) => boolean): CompileOperator {
  return (value) => {
    if (typeof value !== 'number' || Number.isNaN(value))
      throw new ValueProblem('needs a value that is a number');
    return (found) => (typeof found === 'number' && holds(found, value) ? `${sign} ${value}` : null);
  };
}

/** A longer list is not written out: its reason is stored with each signal that matches. */
const MEMBERS_SHOWN = 10;

function membership(wanted: boolean): CompileOperator {
  return (value) => {
    if (!Array.isArray(value) || !value.every(isScalar))
      throw new ValueProblem('needs a value that is a list of texts, numbers, true, false or null');
    const members = new Set<unknown>(value);
    const word = wanted ? 'in' : 'not in';
    const more = value.length - MEMBERS_SHOWN;
    const shown = value.slice(0, MEMBERS_SHOWN).map(String).join(', ');
    const reason = `${word} [${shown}${more > 0 ? `, … ${more} more` : ''}]`;
    return (found) => {
      if (members.has(found) !== wanted) return null;
      // Of a long list, the member that was found alone.
      return wanted && more > 0 ? `${word} [${String(found)}, … ${value.length - 1} more]` : reason;
    };
  };
}

function containment(wanted: boolean): CompileOperator {
  return (value) => {
    const part = scalar(value);
    const reason = `${wanted ? 'contains' : 'not contains'} "${String(part)}"`;
    return (found) => {
      if (typeof found !== 'string' && !Array.isArray(found)) return null;
      // In a text a number is looked for as it is written; a list is searched for the value itself.
      const holds = Array.isArray(found) ? found.includes(part) : found.includes(String(part));
      return holds === wanted ? reason : null;
    };
  };
}

function edge(word: string, holds: (found: string, part: string) => boolean): CompileOperator {
  return (value) => {
    const part = text(value);
    return (found) => (typeof found === 'string' && holds(found, part) ? `${word} "${part}"` : null);
  };
}

function emptiness(wanted: boolean): CompileOperator {
  return (value, note) => {
    if (value !== undefined) note('takes no value; the one given is ignored');
    return (found) => {
      const empty = found === undefined || found === null || found === '';
      const holds = empty || (Array.isArray(found) && found.length === 0);
      return holds === wanted ? `is ${wanted ? '' : 'not '}empty` : null;
    };
  };
}

const internal: CompileOperator = (value, note) => {
  if (value !== undefined) note('takes no value; the one given is ignored');
  return (found) => (typeof found === 'string' && isInternalAddress(found) ? 'is internal' : null);
};

/**
 * The first pattern that matches gives the reason. One that cannot be used counts as no match (proxy spec, section
 * 3.2); the others of its list still work.
 */
function patterns(
  compile: (pattern: string) => ((found: string) => boolean) | string,
  reason: (pattern: string) => string,
): CompileOperator {
  return (value, note) => {
    const compiled = texts(value).flatMap((pattern) => {
      const test = compile(pattern);
      if (typeof test !== 'string') return [{ test, reason: reason(pattern) }];
      note(`cannot use ${JSON.stringify(pattern)}, which never matches: it ${test}`, 'never');
      return [];
    });
    return (found) =>
      typeof found === 'string' ? (compiled.find(({ test }) => test(found))?.reason ?? null) : null;
  };
}

/** A range that cannot be read counts as no match (proxy spec, section 3.2); the others of its list still work. */
const cidr: CompileOperator = (value, note) => {
  const { unreadable, find } = cidrRanges(texts(value));
  for (const range of unreadable) note(`cannot read the range ${JSON.stringify(range)}, which never matches`);
  return (found) => {
    const range = typeof found === 'string' ? find(found) : null;
    return range === null ? null : `in CIDR ${range}`;
  };
};

/**
 * Every operator of a leaf (proxy spec, section 3.2), and `internal`. A Map, so that no inherited name is taken for
 * one.
 */
export const OPERATORS: ReadonlyMap<string, CompileOperator> = new Map([
  ['eq', equality(true)],
  ['ne', equality(false)],
  ['gt', comparison('>', (found, limit) => found > limit)],
  ['gte', comparison('>=', (found, limit) => found >= limit)],
  ['lt', comparison('<', (found, limit) => found < limit)],
  ['lte', comparison('<=', (found, limit) => found <= limit)],
  ['in', membership(true)],
  ['not_in', membership(false)],
  ['contains', containment(true)],
  ['not_contains', containment(false)],
  ['starts_with', edge('starts with', (found, part) => found.startsWith(part))],
  ['ends_with', edge('ends with', (found, part) => found.endsWith(part))],
  ['glob', patterns(globPattern, (pattern) => `matches glob "${pattern}"`)],
  ['regex', patterns(regexPattern, (pattern) => `matches regex "${pattern}"`)],
  ['cidr', cidr],
  ['internal', internal],
  ['empty', emptiness(true)],
  ['not_empty', emptiness(false)],
]);
