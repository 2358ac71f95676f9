import { isOtherBound } from './bound-words.js';
import { isSame } from './compare-tokens.js';
import type { Statement, Token } from './statement.js';

/** Whether a number or date of the claim is bounded the other way wherever it stands: "under 12", "over 12". */
function isBoundedOtherwise({ bound }: Token, same: readonly Token[]): boolean {
  return (
    bound !== null &&
    same.length > 0 &&
    same.every((other) => other.bound !== null && isOtherBound(bound, other.bound))
  );
}

function sidesOf({ scopes }: Statement, pair: number, clauses: ReadonlySet<number> | null): Set<number> {
  const named = scopes.filter((scope) => scope.pair === pair && (clauses?.has(scope.clause) ?? true));
  return new Set(named.map(({ side }) => side));
}

/**
 * Whether a claim makes leave of a duty, all of some, or an upper bound of a lower one, or the other way round. Where
 * something is denied, duty and leave come to the same ("must not", "may not"), and so they are not compared there.
 *
 * @param near the passage's tokens that lie closest to the claim's words
 */
export function isTurnedRound(claim: Statement, passage: Statement, near: readonly Token[]): boolean {
  const isBounded = claim.tokens.some((token) => {
    const close = near.filter((other) => isSame(other, token));
    return isBoundedOtherwise(
      token,
      close.length > 0 ? close : passage.tokens.filter((other) => isSame(other, token)),
    );
  });
  if (isBounded) return true;
  const clauses = new Set(near.map(({ clause }) => clause));
  if (claim.negations.length > 0 || passage.negations.some((clause) => clauses.has(clause))) return false;
  return [...new Set(claim.scopes.map(({ pair }) => pair))].some((pair) => {
    const [claimed, written] = [sidesOf(claim, pair, null), sidesOf(passage, pair, clauses)];
    return claimed.size === 1 && written.size === 1 && [...claimed].every((side) => !written.has(side));
  });
}
