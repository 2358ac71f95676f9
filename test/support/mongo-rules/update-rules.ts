import type { Document } from 'mongodb';
import { collisions, isDocument, isOperators, pathViolations, violation } from './rule.js';
import type { Violation } from './rule.js';

const OPERATORS = new Set([
  '$set',
  '$setOnInsert',
  '$unset',
  '$inc',
  '$mul',
  '$min',
  '$max',
  '$rename',
  '$currentDate',
  '$bit',
  '$push',
  '$addToSet',
  '$pull',
  '$pullAll',
  '$pop',
]);
const PIPELINE_STAGES = new Set(['$addFields', '$set', '$project', '$unset', '$replaceRoot', '$replaceWith']);
const PUSH_MODIFIERS = new Set(['$each', '$slice', '$sort', '$position']);

interface Update {
  /** The filter. */
  q: Document;
  u: unknown;
  upsert?: boolean;
  multi?: boolean;
  arrayFilters?: readonly Document[];
}

/**
 * What a server refuses in one statement of `update` or in `findAndModify`. An operator without fields (`$set: {}`) is
 * no violation: servers take it since MongoDB 5.
 */
export function updateViolations({
  q,
  u,
  upsert = false,
  multi = false,
  arrayFilters = [],
}: Update): Violation[] {
  if (Array.isArray(u))
    return (u as Document[]).flatMap((stage) =>
      PIPELINE_STAGES.has(Object.keys(stage)[0] ?? '')
        ? []
        : [violation('InvalidOptions', `${Object.keys(stage)[0] ?? 'nothing'} is no stage of an update`)],
    );
  if (!isDocument(u)) return [violation('FailedToParse', 'an update is a document or a pipeline')];
  if (!isOperators(u)) return replacementViolations(u, { q, multi });
  const update = u as Record<string, Document>;
  return [
    ...operatorViolations(update),
    ...pathsOf(update).flatMap((path) => ofPath(path, { q, upsert, arrayFilters })),
    ...collisions(pathsOf(update)).map(([one, other]) =>
      violation('ConflictingUpdateOperators', `updating ${one} would create a conflict at ${other}`),
    ),
    ...identityViolations(update, q),
    ...(upsert ? insertedTwice(q) : []),
  ];
}

/** FailedToParse (9), DollarPrefixedFieldName (52) and ImmutableField (66). */
function replacementViolations(u: Document, { q, multi }: { q: Document; multi: boolean }): Violation[] {
  const found: Violation[] = [];
  if (multi) found.push(violation('FailedToParse', 'multi update only works with $ operators'));
  if ('_id' in u && isPlain(q['_id']) && !same(u['_id'], q['_id']))
    found.push(violation('ImmutableField', 'a replacement with another _id'));
  return found;
}

/** FailedToParse: "Unknown modifier", and what each operator takes. */
function operatorViolations(update: Record<string, Document>): Violation[] {
  const parse = (why: string) => violation('FailedToParse', why);
  return Object.entries(update).flatMap(([operator, fields]) => {
    if (!OPERATORS.has(operator)) return [parse(`unknown modifier: ${operator}`)];
    if (!isDocument(fields)) return [parse(`modifiers operate on fields: ${operator}`)];
    return Object.entries(fields as Record<string, unknown>).flatMap(([path, value]) => {
      switch (operator) {
        case '$inc':
        case '$mul':
          return isNumber(value) ? [] : [violation('TypeMismatch', `${operator} of "${path}" by no number`)];
        case '$push':
          return pushViolations(path, value);
        case '$addToSet':
          return isOperators(value) && Object.keys(value).some((key) => key !== '$each')
            ? [violation('BadValue', `$addToSet of "${path}" takes $each alone`)]
            : [];
        case '$pop':
          return value === 1 || value === -1 ? [] : [parse(`$pop of "${path}" by ${String(value)}`)];
        case '$pullAll':
          return Array.isArray(value) ? [] : [violation('BadValue', `$pullAll of "${path}" needs an array`)];
        case '$rename':
          return typeof value === 'string'
            ? pathViolations(value)
            : [violation('BadValue', '$rename to no text')];
        default:
          return value === undefined ? [violation('BadValue', `${operator} of "${path}" to undefined`)] : [];
      }
    });
  });
}

/** BadValue: what `$push` takes beside values. */
function pushViolations(path: string, value: unknown): Violation[] {
  if (!isOperators(value)) return [];
  const found = Object.keys(value).flatMap((key) =>
    PUSH_MODIFIERS.has(key) ? [] : [violation('BadValue', `unrecognized clause in $push: ${key}`)],
  );
  if (!Array.isArray(value['$each']))
    found.push(violation('BadValue', `$push to "${path}" needs $each beside its other clauses`));
  if ('$slice' in value && !Number.isInteger(value['$slice']))
    found.push(violation('BadValue', `$slice of "${path}" must be a number`));
  return found;
}

function pathsOf(update: Record<string, Document>): string[] {
  return Object.entries(update).flatMap(([operator, fields]) =>
    Object.entries((isDocument(fields) ? fields : {}) as Record<string, unknown>).flatMap(([path, value]) =>
      operator === '$rename' && typeof value === 'string' ? [path, value] : [path],
    ),
  );
}

/** Paths, and positions: `$` needs an array that the filter asks about, `$[name]` a filter of that name. */
function ofPath(
  path: string,
  { q, upsert, arrayFilters }: { q: Document; upsert: boolean; arrayFilters: readonly Document[] },
): Violation[] {
  const found = pathViolations(path, { positional: true });
  const parts = path.split('.');
  const place = parts.indexOf('$');
  if (place >= 0) {
    const list = parts.slice(0, place).join('.');
    if (upsert) found.push(violation('BadValue', `"${path}" in an upsert: nothing was matched`));
    if (!pathsAsked(q).some((asked) => asked === list || asked.startsWith(`${list}.`)))
      found.push(violation('BadValue', `"${path}": the filter does not ask about ${list}`));
    if (parts.lastIndexOf('$') !== place)
      found.push(violation('BadValue', `"${path}" has more than one position`));
  }
  for (const part of parts) {
    const name = /^\$\[(.+)\]$/.exec(part)?.[1];
    if (name !== undefined && !arrayFilters.some((one) => Object.keys(one)[0]?.split('.')[0] === name))
      found.push(violation('BadValue', `no array filter found for identifier ${name} in "${path}"`));
  }
  return found;
}

function pathsAsked(q: Document): string[] {
  return Object.entries(q as Record<string, unknown>).flatMap(([key, value]) =>
    key.startsWith('$') && Array.isArray(value) ? (value as Document[]).flatMap(pathsAsked) : [key],
  );
}

/** ImmutableField (66): the `_id` of a document stays. */
function identityViolations(update: Record<string, Document>, q: Document): Violation[] {
  return Object.entries(update).flatMap(([operator, fields]) =>
    Object.entries((isDocument(fields) ? fields : {}) as Record<string, unknown>).flatMap(([path, value]) => {
      if (path !== '_id' && !path.startsWith('_id.')) return [];
      const asked: unknown = q['_id'];
      const stays = operator === '$setOnInsert' || operator === '$set';
      if (stays && (same(value, asked) || (operator === '$setOnInsert' && asked === undefined))) return [];
      return [violation('ImmutableField', `${operator} would change the immutable field ${path}`)];
    }),
  );
}

/** NotSingleValueField (54): an upsert takes its first values from the equalities of the filter. */
function insertedTwice(q: Document): Violation[] {
  return collisions(equalities(q)).map(([one, other]) =>
    violation('NotSingleValueField', `cannot infer query fields to set: ${one} and ${other}`),
  );
}

function equalities(q: Document): string[] {
  return Object.entries(q as Record<string, unknown>).flatMap(([key, value]) => {
    if (key === '$and' || (key === '$or' && (value as unknown[]).length === 1))
      return (value as Document[]).flatMap(equalities);
    if (key.startsWith('$')) return [];
    return isPlain(value) || (isOperators(value) && '$eq' in value) ? [key] : [];
  });
}

function isPlain(value: unknown): boolean {
  return value !== undefined && !isOperators(value) && !(value instanceof RegExp);
}

function isNumber(value: unknown): boolean {
  const kind = (value as { _bsontype?: string } | null)?._bsontype;
  return (
    typeof value === 'number' ||
    typeof value === 'bigint' ||
    ['Long', 'Int32', 'Double', 'Decimal128'].includes(kind ?? '')
  );
}

function same(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
