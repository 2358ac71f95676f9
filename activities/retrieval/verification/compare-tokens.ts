import { isSameMeasure } from './measures.js';
import { isYearDigits } from './read-number.js';
import type { Statement, Token } from './statement.js';

/** Whether two numbers are one: 1.50 euros is 1.5, but without a measure they may be sections or versions. */
function isSameNumber(one: Token, other: Token): boolean {
  const isMeasured = one.measure !== null || other.measure !== null;
  return one.keys[0] === other.keys[0] && (one.zeros === other.zeros || isMeasured);
}

export function isSame(one: Token, other: Token): boolean {
  if (one.kind === 'number' || other.kind === 'number')
    return one.kind === other.kind && isSameNumber(one, other);
  const [few, many] = one.keys.length < other.keys.length ? [one.keys, other.keys] : [other.keys, one.keys];
  // "Curie" is "Marie Curie"; "Irène Curie" is not.
  return one.kind === 'name' && other.kind === 'name'
    ? few.every((key) => many.includes(key))
    : few.some((key) => many.includes(key));
}

export function hasToken(tokens: readonly Token[], token: Token): boolean {
  return tokens.some((other) => isSame(token, other));
}

export function isYear({ keys, unit }: Token): boolean {
  return isYearDigits(keys[0] ?? '') && (unit === null || !/^(?:%|°)$/.test(unit));
}

const DENYING_PREFIX = /^(?:un|in|im|il|ir|non|dis)(?=\p{L}{3})/u;

/** Whether one word denies the other by its prefix: unpaid, paid. */
export function isPrefixed(one: Token, other: Token): boolean {
  const [key, whole] = [one.keys[0]!, other.keys[0]!];
  return (
    one.kind === 'word' && other.kind === 'word' && whole !== key && whole.replace(DENYING_PREFIX, '') === key
  );
}

export function countsSame(one: Token, other: Token): boolean {
  return one.measure !== null && other.measure !== null
    ? isSameMeasure(one.measure, other.measure)
    : one.unit === other.unit;
}

/** Whether one may stand where the other stands: names for names, and numbers that count the same. */
export function isAlternative(one: Token, other: Token): boolean {
  if (isSame(one, other)) return false;
  if (one.opposite !== null && one.opposite.pair === other.opposite?.pair)
    return one.opposite.side !== other.opposite.side;
  if (isPrefixed(one, other) || isPrefixed(other, one)) return true;
  if (one.kind !== other.kind || one.kind === 'word') return false;
  if (one.kind === 'name') return true;
  if (isYear(one) || isYear(other)) return isYear(one) && isYear(other);
  return countsSame(one, other) || one.unit === null || other.unit === null;
}

export function isUnitOf({ keys }: Token, { tokens }: Statement): boolean {
  return tokens.some(({ unit }) => unit !== null && keys.includes(unit));
}

export function hasKnownUnit(one: Token, other: Token): boolean {
  return one.kind !== 'number' || isYear(one) || (one.unit !== null && countsSame(one, other));
}
