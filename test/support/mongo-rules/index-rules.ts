import type { Document } from 'mongodb';
import { isDocument, pathViolations, violation } from './rule.js';
import type { Violation } from './rule.js';

const MAX_INDEXES = 64;
const MAX_FIELDS = 32;
const MAX_TTL_SECONDS = 2_147_483_647;
const KINDS = new Set(['text', '2d', '2dsphere', 'hashed']);
const OPTIONS = new Set([
  'key',
  'name',
  'v',
  'unique',
  'sparse',
  'expireAfterSeconds',
  'partialFilterExpression',
  'hidden',
  'collation',
  'wildcardProjection',
  'storageEngine',
  'background',
  'weights',
  'default_language',
  'language_override',
  'textIndexVersion',
  '2dsphereIndexVersion',
  'bits',
  'min',
  'max',
]);
const PARTIAL_OPERATORS = new Set(['$eq', '$exists', '$gt', '$gte', '$lt', '$lte', '$type', '$in']);

/** The name that a server gives an index which has none. */
export function indexName(index: Document): string {
  const given: unknown = index['name'];
  if (typeof given === 'string') return given;
  return Object.entries(index['key'] as Document)
    .map(([path, kind]) => `${path}_${String(kind)}`)
    .join('_');
}

/** What `createIndexes` refuses in its list, given the indexes that the collection has. */
export function indexViolations(
  indexes: readonly Document[],
  present: readonly Document[] = [],
): Violation[] {
  return [
    ...indexes.flatMap(ofOne),
    ...indexes.flatMap((index, place) => sameTwice(index, indexes.slice(place + 1))),
    ...indexes.flatMap((index) => changed(index, present)),
    ...tooMany([...present, ...indexes]),
  ];
}

function ofOne(index: Document): Violation[] {
  if (!isDocument(index['key']) || Object.keys(index['key']).length === 0)
    return [violation('CannotCreateIndex', 'an index needs at least one field')];
  return [...keyViolations(index['key']), ...nameViolations(index), ...optionViolations(index)];
}

/** CannotCreateIndex (67), and 13103 for more than 32 fields. */
function keyViolations(key: Document): Violation[] {
  const entries = Object.entries(key) as [string, unknown][];
  const wrong = entries.flatMap(([path, kind]) => {
    const known = typeof kind === 'number' ? kind !== 0 && Number.isFinite(kind) : KINDS.has(String(kind));
    const plain = path.endsWith('$**') ? path.slice(0, -3).replace(/\.$/, '') : path;
    return [
      ...(known ? [] : [violation('CannotCreateIndex', `"${path}" has no direction: ${String(kind)}`)]),
      ...(plain === '' && path !== '' ? [] : pathViolations(plain)),
    ];
  });
  if (entries.length > MAX_FIELDS)
    wrong.push(violation('Location13103', `a key of ${entries.length} fields; ${MAX_FIELDS} at most`));
  return wrong;
}

/** CannotCreateIndex: `*` is what `dropIndexes` calls all of them, and `_id_` is taken. */
function nameViolations(index: Document): Violation[] {
  const name = indexName(index);
  const isPrimary = Object.keys(index['key'] as Document).join() === '_id';
  if (name === '' || name === '*' || name.includes('\0') || (name === '_id_' && !isPrimary))
    return [violation('CannotCreateIndex', `"${name}" cannot be the name of an index`)];
  return [];
}

/** CannotCreateIndex and InvalidIndexSpecificationOption (197). */
function optionViolations(index: Document): Violation[] {
  const found: Violation[] = [];
  const fields = Object.entries(index['key'] as Document) as [string, unknown][];
  const { expireAfterSeconds: ttl, partialFilterExpression: partial } = index as Record<string, unknown>;
  for (const option of Object.keys(index))
    if (!OPTIONS.has(option))
      found.push(violation('InvalidIndexSpecificationOption', `"${option}" is no option of an index`));
  if (fields.length === 1 && fields[0]![0] === '_id')
    for (const option of ['unique', 'sparse', 'expireAfterSeconds', 'partialFilterExpression', 'hidden'])
      if (option in index)
        found.push(
          violation('InvalidIndexSpecificationOption', `"${option}" is not valid for an index of _id`),
        );
  if (index['sparse'] === true && partial !== undefined)
    found.push(violation('CannotCreateIndex', 'an index is sparse or partial, not both'));
  if (ttl !== undefined) {
    if (fields.length > 1)
      found.push(violation('CannotCreateIndex', 'documents expire by an index of one field'));
    if (typeof ttl !== 'number' || !Number.isInteger(ttl) || ttl < 0 || ttl > MAX_TTL_SECONDS)
      found.push(violation('CannotCreateIndex', `expireAfterSeconds cannot be ${String(ttl)}`));
  }
  if (index['unique'] === true && fields.some(([, kind]) => kind === 'hashed'))
    found.push(violation('CannotCreateIndex', 'a hashed index cannot be unique'));
  if (fields.filter(([, kind]) => kind === 'hashed').length > 1)
    found.push(violation('CannotCreateIndex', 'an index has one hashed field at most'));
  return [...found, ...partialViolations(partial)];
}

/** CannotCreateIndex: which expressions may bound a partial index. */
function partialViolations(expression: unknown): Violation[] {
  if (expression === undefined) return [];
  if (!isDocument(expression))
    return [violation('CannotCreateIndex', 'partialFilterExpression is a document')];
  const refused = (what: string) =>
    violation('CannotCreateIndex', `a partial index cannot be bound by ${what}`);
  return Object.entries(expression as Record<string, unknown>).flatMap(([path, condition]) => {
    if (path === '$and' || path === '$or') return (condition as unknown[]).flatMap(partialViolations);
    if (path.startsWith('$')) return [refused(path)];
    if (condition instanceof RegExp) return [refused('a pattern')];
    if (!isDocument(condition)) return [];
    return Object.entries(condition as Record<string, unknown>).flatMap(([operator, operand]) => {
      if (operator.startsWith('$') && !PARTIAL_OPERATORS.has(operator)) return [refused(operator)];
      return operator === '$exists' && operand !== true && operand !== 1 ? [refused('$exists: false')] : [];
    });
  });
}

/** "Identical index already exists", IndexOptionsConflict (85) and IndexKeySpecsConflict (86) within one list. */
function sameTwice(index: Document, later: readonly Document[]): Violation[] {
  return later.flatMap((other) => {
    if (sameKey(index, other) && optionsOf(index) === optionsOf(other))
      return [violation('IndexAlreadyExists', `the index ${indexName(index)} is listed twice`)];
    return conflict(index, other);
  });
}

/** The same two, with an index that is there: one that is there as it is asked for is left. */
function changed(index: Document, present: readonly Document[]): Violation[] {
  return present.flatMap((other) =>
    sameKey(index, other) && optionsOf(index) === optionsOf(other) && indexName(index) === indexName(other)
      ? []
      : conflict(index, other),
  );
}

function conflict(index: Document, other: Document): Violation[] {
  if (sameKey(index, other) && JSON.stringify(index['collation']) === JSON.stringify(other['collation'])) {
    const bounded = JSON.stringify(index['partialFilterExpression']);
    // Since MongoDB 5 the same key may be indexed again over a part, and once more sparse or unique under its own name.
    if (bounded === JSON.stringify(other['partialFilterExpression']) && sameUse(index, other))
      return [
        violation('IndexOptionsConflict', `${indexName(index)} is there with other options or another name`),
      ];
  }
  return indexName(index) === indexName(other)
    ? [violation('IndexKeySpecsConflict', `two different indexes are called ${indexName(index)}`)]
    : [];
}

function sameKey(one: Document, other: Document): boolean {
  return JSON.stringify(one['key']) === JSON.stringify(other['key']);
}

function sameUse(one: Document, other: Document): boolean {
  return one['unique'] === other['unique'] && one['sparse'] === other['sparse'];
}

function optionsOf(index: Document): string {
  const options = Object.entries(index as Record<string, unknown>).filter(
    ([name]) => !['key', 'name', 'v', 'background'].includes(name),
  );
  return JSON.stringify(options.sort(([one], [other]) => one.localeCompare(other)));
}

/** CannotCreateIndex: 64 indexes with that of `_id`. */
function tooMany(all: readonly Document[]): Violation[] {
  const names = new Set(['_id_', ...all.filter((index) => isDocument(index['key'])).map(indexName)]);
  return names.size > MAX_INDEXES
    ? [violation('CannotCreateIndex', `${names.size} indexes of one collection; ${MAX_INDEXES} at most`)]
    : [];
}
