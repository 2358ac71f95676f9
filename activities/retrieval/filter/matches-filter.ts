import type { ComparisonOperator, FilterExpression, FilterLiteral, LikePattern } from '../../ports/filter.js';
import { valuesOf } from '../../documents/filter-fields.js';
import type { FieldValue, FilterSubject } from '../../documents/filter-fields.js';

/** By code point, as the index orders keywords (their UTF-8 bytes), and not by UTF-16 unit, as `<` does. */
function compareTexts(a: string, b: string): number {
  const [left, right] = [a[Symbol.iterator](), b[Symbol.iterator]()];
  for (;;) {
    const [one, other] = [left.next(), right.next()];
    if (one.done === true || other.done === true)
      return Number(other.done ?? false) - Number(one.done ?? false);
    const difference = one.value.codePointAt(0)! - other.value.codePointAt(0)!;
    if (difference !== 0) return difference;
  }
}

function sign<T extends number | bigint>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Below, above or equal to 0; null where value and literal are of different types. */
function order(value: FieldValue, literal: FilterLiteral): number | null {
  switch (literal.kind) {
    case 'text':
      return value.text === undefined ? null : compareTexts(value.text, literal.value);
    case 'boolean':
      return value.bool === undefined ? null : sign(Number(value.bool), Number(literal.value));
    case 'time':
      return value.date === undefined ? null : sign(Date.parse(value.date), literal.value);
    case 'integer':
      if (value.integer !== undefined) return sign(BigInt(value.integer), literal.value);
      return value.number === undefined ? null : sign(value.number, Number(literal.value));
    case 'decimal':
      return value.number === undefined ? null : sign(value.number, literal.value);
  }
}

const HOLDS: Readonly<Record<Exclude<ComparisonOperator, '!='>, (order: number) => boolean>> = {
  '==': (order) => order === 0,
  '<': (order) => order < 0,
  '<=': (order) => order <= 0,
  '>': (order) => order > 0,
  '>=': (order) => order >= 0,
};

function isEqual(value: FieldValue, literal: FilterLiteral): boolean {
  return order(value, literal) === 0;
}

/** Each segment where it can stand first: if any way fits, this one does. */
function matchesPattern(text: string, pattern: LikePattern): boolean {
  const [first = '', ...rest] = pattern;
  const last = rest.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first)) return false;
  let place = first.length;
  for (const segment of rest) {
    const found = text.indexOf(segment, place);
    if (found === -1) return false;
    place = found + segment.length;
  }
  return text.length - last.length >= place && text.endsWith(last);
}

/** Whether a filter holds of a chunk, by the meaning that is written down at `FilterExpression`. */
export function matchesFilter(subject: FilterSubject, filter: FilterExpression): boolean {
  switch (filter.kind) {
    case 'and':
      return filter.parts.every((part) => matchesFilter(subject, part));
    case 'or':
      return filter.parts.some((part) => matchesFilter(subject, part));
    case 'not':
      return !matchesFilter(subject, filter.part);
    case 'like':
      return valuesOf(subject, filter.field).some(
        ({ text }) => text !== undefined && matchesPattern(text, filter.pattern),
      );
    case 'in': {
      const values = valuesOf(subject, filter.field);
      const found = values.some((value) => filter.values.some((literal) => isEqual(value, literal)));
      return filter.negated ? values.length > 0 && !found : found;
    }
    case 'compare': {
      const { field, operator, value: literal } = filter;
      const values = valuesOf(subject, field);
      if (operator === '!=') return values.length > 0 && !values.some((value) => isEqual(value, literal));
      return values.some((value) => {
        const found = order(value, literal);
        return found !== null && HOLDS[operator](found);
      });
    }
  }
}
