import type { Condition, Report, RulePath } from './compiled-rule.js';
import { OPERATORS, ValueProblem } from './operators.js';
import { readField } from './read-field.js';
import { TEXT_LENGTH_LIMIT } from './regex-pattern.js';
import { isObject } from '../../../schemas/is-object.js';

const DEPTH_LIMIT = 32;
const NODE_LIMIT = 1_000;
const FIELD_LENGTH_LIMIT = 200;
/** Characters that a leaf with a regular expression looks at in one signal: a list can have thousands of long texts. */
const TEXTS_LENGTH_LIMIT = 8 * TEXT_LENGTH_LIMIT;

/** Stands in for a part that cannot be used; the rule it belongs to is dropped. */
const NEVER: Condition = () => null;

/** A misspelt key must not pass unseen, but a rule is not given up for one either. */
export function noteUnknownKeys(
  mapping: Record<string, unknown>,
  known: readonly string[],
  path: RulePath,
  report: Report,
): void {
  for (const key of Object.keys(mapping))
    if (!known.includes(key))
      report([...path, key], `the key ${JSON.stringify(key)} is not known and ignored`, 'note');
}

/**
 * Turns the tree of a rule into one function (proxy spec, section 3.2): `and`, `or` and `not` over leaves of field,
 * operator and value. Everything that can be prepared is prepared here: patterns, ranges, reason texts.
 */
export function compileCondition(expression: unknown, root: RulePath, report: Report): Condition {
  let nodes = 0;

  const list = (value: unknown, path: RulePath): Condition[] => {
    if (Array.isArray(value) && value.length > 0)
      return value.map((inner, index) => compile(inner, [...path, index]));
    report(path, '"conditions" must be a list of at least one condition', 'drop');
    return [];
  };

  const leaf = (node: Record<string, unknown>, op: string, path: RulePath): Condition => {
    const make = OPERATORS.get(op);
    if (make === undefined) {
      report([...path, 'op'], `the operator ${JSON.stringify(op)} is not known`, 'drop');
      return NEVER;
    }
    noteUnknownKeys(node, ['op', 'field', 'value'], path, report);
    const field = node['field'];
    if (typeof field !== 'string' || field.split('.').includes('') || field.length > FIELD_LENGTH_LIMIT) {
      report([...path, 'field'], `${op} needs a "field" such as source.ip`, 'drop');
      return NEVER;
    }
    const read = readField(field);
    try {
      const operator = make(node['value'], (message, weight = 'note') =>
        report([...path, 'value'], `${op} ${message}`, weight),
      );
      // Of several elements one that matches is enough; `not` around it asks for none.
      return (signal, facts) => {
        let left = op === 'regex' ? TEXTS_LENGTH_LIMIT : Infinity;
        for (const value of read(signal, facts)) {
          if (left <= 0) return null;
          if (typeof value === 'string') left -= Math.min(value.length, TEXT_LENGTH_LIMIT);
          const reason = operator(value);
          if (reason !== null) return `${field} ${reason}`;
        }
        return null;
      };
    } catch (error) {
      if (!(error instanceof ValueProblem)) throw error;
      report([...path, 'value'], `${op} ${error.message}`, 'drop');
      return NEVER;
    }
  };

  const compile = (node: unknown, path: RulePath): Condition => {
    nodes += 1;
    // Said once; an alias can repeat a branch endlessly.
    if (nodes === NODE_LIMIT + 1) report(path, `the rule has more than ${NODE_LIMIT} conditions`, 'drop');
    if (nodes > NODE_LIMIT) return NEVER;
    if (path.length - root.length > DEPTH_LIMIT * 2) {
      report(path, `conditions are nested deeper than ${DEPTH_LIMIT} levels`, 'drop');
      return NEVER;
    }
    if (!isObject(node) || typeof node['op'] !== 'string') {
      report([...path, 'op'], 'a condition must have an "op"', 'drop');
      return NEVER;
    }
    switch (node['op']) {
      case 'and': {
        noteUnknownKeys(node, ['op', 'conditions'], path, report);
        return every(list(node['conditions'], [...path, 'conditions']));
      }
      case 'or': {
        noteUnknownKeys(node, ['op', 'conditions'], path, report);
        return some(list(node['conditions'], [...path, 'conditions']));
      }
      case 'not': {
        noteUnknownKeys(node, ['op', 'condition'], path, report);
        const inner = compile(node['condition'], [...path, 'condition']);
        // What did not match has no reason of its own, hence the fixed text.
        return (signal, facts) => (inner(signal, facts) === null ? 'NOT(condition)' : null);
      }
      default:
        return leaf(node, node['op'], path);
    }
  };

  return compile(expression, root);
}

function every(conditions: readonly Condition[]): Condition {
  return (signal, facts) => {
    const reasons: string[] = [];
    for (const condition of conditions) {
      const reason = condition(signal, facts);
      if (reason === null) return null;
      reasons.push(reason);
    }
    return reasons.join(' AND ');
  };
}

function some(conditions: readonly Condition[]): Condition {
  return (signal, facts) => {
    for (const condition of conditions) {
      const reason = condition(signal, facts);
      if (reason !== null) return reason;
    }
    return null;
  };
}
