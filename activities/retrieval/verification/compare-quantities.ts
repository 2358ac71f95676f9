import { countsSame, hasToken, isSame, isYear } from './compare-tokens.js';
import { dateOf } from './date-words.js';
import { isSameMeasure, unitNamed } from './measures.js';
import type { Measure } from './measures.js';
import type { Statement, Token } from './statement.js';

function differs(one: Measure | null, other: Measure | null): boolean {
  return one !== null && other !== null && !isSameMeasure(one, other);
}

/** Whether a number counts something else wherever the passage has it: milligrams, euros, days, or so much a month. */
function countsOther({ tokens }: Statement, number: Token): boolean {
  const same = tokens.filter((token) => isSame(token, number));
  return (
    same.length > 0 &&
    (same.every(({ measure }) => differs(measure, number.measure)) ||
      same.every(({ rate }) => differs(rate, number.rate)))
  );
}

function measuresOf({ tokens }: Statement): Measure[] {
  return tokens.flatMap(({ kind, keys, measure, rate }) =>
    [measure, rate, kind === 'word' ? unitNamed(keys[0] ?? '') : null].filter((one) => one !== null),
  );
}

/** Whether the passage does not name a unit of the claim, but another of its kind: "per month" for "per year". */
function hasOtherUnit(claim: Statement, passage: Statement): boolean {
  const claimed = measuresOf(claim);
  const written = measuresOf(passage);
  const isWritten = (measure: Measure): boolean => written.some((one) => isSameMeasure(one, measure));
  const others = written.filter((one) => !claimed.some((measure) => isSameMeasure(one, measure)));
  return claim.tokens.some(
    ({ measure }) =>
      measure !== null &&
      !isWritten(measure) &&
      others.some(({ dimension }) => dimension === measure.dimension),
  );
}

/** Whether another number than the claim's stands among its words with the same unit. */
export function hasOtherCount(claim: Statement, near: readonly Token[], number: Token): boolean {
  if ((number.unit === null && number.measure === null) || isYear(number)) return false;
  const sameUnit = near.filter((token) => token.kind === 'number' && countsSame(token, number));
  if (sameUnit.length === 0 || hasToken(sameUnit, number)) return false;
  return (
    sameUnit.some((other) => !claim.tokens.some((one) => isSame(one, other) && countsSame(one, other))) ||
    sameUnit.every((other) => hasToken(claim.tokens, other))
  );
}

function datesOf({ tokens }: Statement): string[] {
  return tokens.flatMap(({ kind, keys }) =>
    kind === 'number' ? [] : keys.flatMap((key) => dateOf(key) ?? []),
  );
}

/** Whether the claim names a month or a day of the week that the passage has neither by its name nor by its number. */
function hasOtherDate(claim: Statement, passage: Statement): boolean {
  const dates = datesOf(passage);
  const numbers = passage.tokens.filter(({ kind }) => kind === 'number').map(({ keys }) => keys[0]);
  return datesOf(claim).some((date) => !dates.includes(date) && !numbers.includes(date));
}

export function isMeasuredOtherwise(claim: Statement, passage: Statement): boolean {
  return (
    claim.tokens.some((token) => token.kind === 'number' && countsOther(passage, token)) ||
    hasOtherUnit(claim, passage) ||
    hasOtherDate(claim, passage)
  );
}

/** The only clause that holds a token; null: none does, or several do. */
function onlyClauseOf({ tokens }: Statement, token: Token): number | null {
  const clauses = new Set(tokens.filter((other) => isSame(other, token)).map(({ clause }) => clause));
  return clauses.size === 1 ? [...clauses][0]! : null;
}

/**
 * Whether two numbers of the claim have changed places: in the passage each stands beside the other's words alone.
 * "Leaves at 9 and arrives at 10" is no source for "leaves at 10 and arrives at 9".
 */
export function areExchanged(claim: Statement, passage: Statement): boolean {
  const numbers = claim.tokens.flatMap((token) => {
    const place = token.kind === 'number' ? onlyClauseOf(passage, token) : null;
    return place === null ? [] : [{ clause: token.clause, place }];
  });
  const wordsOf = (clause: number): (number | null)[] =>
    claim.tokens
      .filter((token) => token.clause === clause && token.kind !== 'number')
      .map((token) => onlyClauseOf(passage, token));
  const standAt = (clause: number, place: number, other: number): boolean => {
    const places = wordsOf(clause);
    return places.includes(place) && !places.includes(other);
  };
  return numbers.some((one, index) =>
    numbers
      .slice(index + 1)
      .some(
        (other) =>
          one.clause !== other.clause &&
          one.place !== other.place &&
          standAt(one.clause, other.place, one.place) &&
          standAt(other.clause, one.place, other.place),
      ),
  );
}
