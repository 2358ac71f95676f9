import type { Document } from 'mongodb';
import { collisions, isDocument, isOperators, pathViolations, violation } from './rule.js';
import type { Violation } from './rule.js';

const LOGICAL = new Set(['$and', '$or', '$nor']);
const TOP_LEVEL = new Set(['$expr', '$comment', '$jsonSchema', '$sampleRate']);
const LISTS = new Set(['$in', '$nin', '$all']);
const COMPARISONS = new Set(['$eq', '$ne', '$gt', '$gte', '$lt', '$lte']);
const OTHERS = new Set([
  '$exists',
  '$type',
  '$size',
  '$mod',
  '$not',
  '$elemMatch',
  '$regex',
  '$options',
  '$bitsAllSet',
  '$bitsAnySet',
  '$bitsAllClear',
  '$bitsAnyClear',
  '$geoWithin',
  '$geoIntersects',
  '$near',
  '$nearSphere',
  '$comment',
]);

/** What a server refuses in a filter, mostly as BadValue (2). */
export function queryViolations(filter: unknown): Violation[] {
  if (filter === undefined) return [];
  if (!isDocument(filter)) return [violation('TypeMismatch', 'a filter is a document')];
  return Object.entries(filter as Record<string, unknown>).flatMap(([key, value]) => {
    if (LOGICAL.has(key)) return ofBranches(key, value);
    if (key === '$where' || key === '$text')
      return [violation('NotSupported', `${key}: not on FerretDB, and $where runs code in the server`)];
    if (TOP_LEVEL.has(key)) return [];
    if (key.startsWith('$')) return [violation('BadValue', `unknown top level operator: ${key}`)];
    return [...pathViolations(key), ...ofField(key, value)];
  });
}

function ofBranches(key: string, value: unknown): Violation[] {
  if (!Array.isArray(value) || value.length === 0)
    return [violation('BadValue', `${key} must be a nonempty array`)];
  return value.flatMap(queryViolations);
}

function ofField(path: string, value: unknown): Violation[] {
  if (value === undefined) return [violation('BadValue', `"${path}" is compared with undefined`)];
  if (value instanceof RegExp) return patternViolations(value.source);
  if (!isOperators(value)) return [];
  return Object.entries(value as Record<string, unknown>).flatMap(([operator, operand]) =>
    ofOperator(path, operator, operand, value),
  );
}

function ofOperator(path: string, operator: string, operand: unknown, all: Document): Violation[] {
  const bad = (why: string) => [violation('BadValue', `"${path}": ${why}`)];
  if (LISTS.has(operator)) {
    if (!Array.isArray(operand)) return bad(`${operator} needs an array`);
    return operand.some((one) => operator !== '$all' && isOperators(one))
      ? bad(`cannot nest $ under ${operator}`)
      : [];
  }
  if (COMPARISONS.has(operator)) {
    if (operand === undefined) return bad('cannot compare to undefined');
    return operator !== '$eq' && operand instanceof RegExp
      ? bad(`cannot have a pattern as arg to ${operator}`)
      : [];
  }
  switch (operator) {
    case '$not':
      if (operand instanceof RegExp) return [];
      return isOperators(operand) ? ofField(path, operand) : bad('$not needs a pattern or operators');
    case '$elemMatch':
      if (!isDocument(operand)) return bad('$elemMatch needs an Object');
      return isOperators(operand) && !Object.keys(operand).some((key) => LOGICAL.has(key))
        ? ofField(path, operand)
        : queryViolations(operand);
    case '$size':
      return Number.isInteger(operand) && (operand as number) >= 0 ? [] : bad('$size is a count');
    case '$mod':
      return Array.isArray(operand) && operand.length === 2
        ? []
        : bad('$mod needs a divisor and a remainder');
    case '$regex':
      return patternViolations(operand instanceof RegExp ? operand.source : String(operand));
    case '$options':
      if (!('$regex' in all)) return bad('$options needs a $regex');
      return /^[imsxu]*$/.test(String(operand))
        ? []
        : bad(`invalid flag in regex options: ${String(operand)}`);
    default:
      return OTHERS.has(operator) ? [] : bad(`unknown operator: ${operator}`);
  }
}

/** Location51091 and BadValue: what PCRE2 does not take and JavaScript does; patterns end at a NUL. */
function patternViolations(source: string): Violation[] {
  if (source.includes('\0')) return [violation('BadValue', 'a pattern cannot hold a NUL')];
  if (/\\u[0-9a-fA-F{]/.test(source)) return [violation('Location51091', `PCRE2 has no \\u: ${source}`)];
  return [];
}

/** What a server refuses of the options of `find`, beside its filter. */
export function findViolations(command: Document): Violation[] {
  return [
    ...queryViolations(command['filter']),
    ...projectionViolations(command['projection']),
    ...sortViolations(command['sort']),
    ...counts(command, ['skip', 'limit', 'batchSize']),
    ...(command['limit'] === 0 || command['tailable'] !== true
      ? []
      : [violation('NotSupported', 'a tailable cursor needs a capped collection')]),
  ];
}

function counts(command: Document, names: readonly string[]): Violation[] {
  return names.flatMap((name) => {
    const value: unknown = command[name];
    if (value === undefined || (Number.isInteger(value) && (value as number) >= 0)) return [];
    return [violation('BadValue', `${name} must be a count, and is ${String(value)}`)];
  });
}

/** BadValue, and 15974 to 15976 for directions. */
export function sortViolations(sort: unknown): Violation[] {
  if (sort === undefined) return [];
  const entries =
    sort instanceof Map ? [...(sort as Map<string, unknown>)] : Object.entries(sort as Document);
  const found = (entries as [string, unknown][]).flatMap(([path, direction]) => {
    if (path === '$natural')
      return [violation('NotSupported', 'the natural order is no promise of any server')];
    const known = direction === 1 || direction === -1 || (isDocument(direction) && '$meta' in direction);
    return [
      ...(known ? [] : [violation('Location15975', `"${path}" is sorted by ${String(direction)}`)]),
      ...pathViolations(path),
    ];
  });
  if (entries.length > 32) found.push(violation('BadValue', 'too many sort keys; 32 at most'));
  return found;
}

/** 31253/31254 (mixed), 31249 (colliding paths) and paths that no document can have. */
export function projectionViolations(projection: unknown): Violation[] {
  if (projection === undefined) return [];
  const entries = Object.entries(projection as Record<string, unknown>);
  const found = entries.flatMap(([path]) => pathViolations(path, { positional: true }));
  const kinds = new Set(
    entries.flatMap(([path, shown]) => (path === '_id' || isDocument(shown) ? [] : [Boolean(shown)])),
  );
  if (kinds.size > 1)
    found.push(violation('Location31254', 'a projection includes or excludes fields, not both'));
  for (const [one, other] of collisions(entries.map(([path]) => path)))
    found.push(violation('Location31249', `a projection of both ${one} and ${other}`));
  return found;
}
