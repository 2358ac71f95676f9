import { isTurnedRound } from './compare-bounds.js';
import { areExchanged, hasOtherCount, isMeasuredOtherwise } from './compare-quantities.js';
import { isOfOtherAgent, isReversed } from './compare-roles.js';
import { hasKnownUnit, hasToken, isAlternative, isPrefixed, isSame, isUnitOf } from './compare-tokens.js';
import type { Statement, Token } from './statement.js';

/**
 * Why a source does not support a claim: too few of its words are there; a number, a name, a denial or who does what to
 * whom is another one.
 */
export type ClaimFault = 'words' | 'number' | 'name' | 'negation' | 'roles';

/** Part of a claim's words that a passage must hold to support it, and to be compared with it at all. */
const SUPPORTED_FROM = 0.65;
export const COMPARED_FROM = 0.45;

/** The clauses that lie closest together and hold most of the claim's words. */
function closestClauses(claim: Statement, passage: Statement): { from: number; to: number } {
  const ordinary = claim.tokens.filter(
    (token) => token.kind === 'word' && token.opposite === null && hasToken(passage.tokens, token),
  );
  const wanted = ordinary.length > 0 ? ordinary : claim.tokens;
  const last = passage.tokens.at(-1)?.clause ?? 0;
  const holding = Array.from({ length: last + 1 }, (_, clause) => {
    const tokens = passage.tokens.filter((token) => token.clause === clause);
    return new Set(wanted.flatMap((token, index) => (hasToken(tokens, token) ? [index] : [])));
  });
  let best = { from: 0, to: last, count: 0 };
  for (let from = 0; from <= last; from += 1) {
    const held = new Set<number>();
    for (let to = from; to <= last; to += 1) {
      for (const index of holding[to]!) held.add(index);
      const isShorter = held.size === best.count && to - from < best.to - best.from;
      if (held.size > best.count || isShorter) best = { from, to, count: held.size };
    }
  }
  return best;
}

/** What a claim and the passage that it is compared with come to. */
interface Comparison {
  claim: Statement;
  passage: Statement;
  /** The passage's tokens within the closest clauses. */
  near: readonly Token[];
  /** The clauses of the passage that the claim speaks of. */
  clauses: ReadonlySet<number>;
}

function anchorsOf({ tokens }: Statement, kind: Token['kind']): Token[] {
  return tokens.filter((token) => token.kind === kind);
}

/** A number or name that stands elsewhere, while another that the claim has not stands among its words. */
function isTakenFromElsewhere({ claim, passage, near }: Comparison, anchor: Token): boolean {
  if (hasToken(near, anchor)) return false;
  const own = passage.tokens.filter((token) => isSame(token, anchor)).map(({ clause }) => clause);
  const isBoundThere = (token: Token): boolean =>
    own.includes(token.clause) &&
    !isSame(token, anchor) &&
    hasToken(claim.tokens, token) &&
    !hasToken(near, token);
  if (passage.tokens.some(isBoundThere)) return false;
  const isWordOfClaim = (token: Token): boolean => token.kind === 'word' && hasToken(claim.tokens, token);
  const among = near.slice(near.findIndex(isWordOfClaim), near.findLastIndex(isWordOfClaim) + 1);
  return among.some((other) => isAlternative(anchor, other) && !hasToken(claim.tokens, other));
}

/**
 * Two that the passage has in different clauses, each beside what stands for the other there; of numbers it is enough
 * that one of them is.
 */
function isCrossed({ claim, passage }: Comparison, kind: Token['kind']): boolean {
  const anchors = anchorsOf(claim, kind);
  const inClause = (clause: number): Token[] => passage.tokens.filter((token) => token.clause === clause);
  const clausesOf = (anchor: Token): number[] =>
    passage.tokens.filter((token) => isSame(token, anchor)).map(({ clause }) => clause);
  const hasRival = (clause: number, anchor: Token): boolean =>
    inClause(clause).some((other) => isAlternative(anchor, other) && !hasToken(claim.tokens, other));
  return anchors.some((one, index) =>
    anchors.slice(index + 1).some((other) => {
      const [ones, others] = [clausesOf(one), clausesOf(other)];
      if (ones.length === 0 || others.length === 0 || ones.some((clause) => others.includes(clause)))
        return false;
      const [rivalled, otherRivalled] = [
        others.every((clause) => hasRival(clause, one)),
        ones.every((clause) => hasRival(clause, other)),
      ];
      return kind === 'number' ? rivalled || otherRivalled : rivalled && otherRivalled;
    }),
  );
}

/**
 * A number, a name or one of two opposites that the passage has in another clause than the claim's: "14 hours with
 * the screen on and 60 in standby" is no source for "14 hours in standby". What a clause shares with the one before it
 * is left out in the later one, so words of the later one are its own.
 */
function isOfOtherClause({ claim, passage }: Comparison, anchor: Token): boolean {
  const clauses = [...new Set(passage.tokens.map(({ clause }) => clause))].map((clause) =>
    passage.tokens.filter((token) => token.clause === clause),
  );
  const holding = clauses.flatMap((tokens, index) => (hasToken(tokens, anchor) ? [index] : []));
  if (holding.length !== 1) return false;
  const at = holding[0]!;
  const isWord = (token: Token): boolean =>
    (token.kind === 'word' || (token.kind === 'name' && anchor.kind !== 'name')) &&
    token.opposite === null &&
    !isSame(token, anchor);
  const ofClaim = (tokens: readonly Token[]): Token[] =>
    tokens.filter((token) => isWord(token) && hasToken(claim.tokens, token) && !isUnitOf(token, claim));
  const hasRival = (tokens: readonly Token[]): boolean =>
    tokens.some(
      (other) =>
        isAlternative(anchor, other) && hasKnownUnit(anchor, other) && !hasToken(claim.tokens, other),
    );
  const own = clauses[at]!.filter(isWord).filter((token) => !isUnitOf(token, passage));
  if (own.length > 0 && ofClaim(clauses[at]!).length === 0)
    return clauses.some((tokens, index) => index !== at && hasRival(tokens) && ofClaim(tokens).length > 0);
  // A name is not bound so: another may stand in the later clause for other reasons.
  if (anchor.kind === 'name') return false;
  return clauses
    .slice(at + 1)
    .some((tokens) => hasRival(tokens) && ofClaim(tokens).some((word) => !hasToken(clauses[at]!, word)));
}

/** The names of a passage that stand where one stands with these words behind it, or before it. */
function namesBeside(passage: Statement, words: readonly Token[], side: 'before' | 'behind'): Token[] {
  return passage.tokens.filter((token, index) => {
    const first = side === 'before' ? index + 1 : index - words.length;
    const isBeside = words.every((word, offset) => {
      const other = passage.tokens[first + offset];
      return other !== undefined && isSame(word, other) && !(side === 'before' && other.isJoined);
    });
    return isBeside && token.kind === 'name';
  });
}

/** Whether another name stands where the claim has this one: before the same word or two, or behind the same two. */
function isNameReplaced({ claim, passage }: Comparison, name: Token): boolean {
  if (passage.tokens.some((token) => token.isAgent && isSame(token, name))) return false;
  const at = claim.tokens.indexOf(name);
  const areWords = (tokens: readonly Token[], count: number): boolean =>
    tokens.length === count && tokens.every(({ kind }) => kind === 'word');
  const [next, nextTwo] = [claim.tokens.slice(at + 1, at + 2), claim.tokens.slice(at + 1, at + 3)];
  const last = claim.tokens.slice(Math.max(0, at - 2), at);
  const lastTwo = last.length === 2 && last[1]?.kind === 'word' && last[0]?.kind !== 'number' ? last : [];
  const isElliptic = [
    ...new Set(passage.tokens.filter((one) => isSame(one, name)).map(({ clause }) => clause)),
  ].some((clause) => passage.tokens.every((one) => one.clause !== clause || hasToken(claim.tokens, one)));
  return [
    areWords(next, 1) ? namesBeside(passage, next, 'before') : [],
    areWords(nextTwo, 2) ? namesBeside(passage, nextTwo, 'before') : [],
    lastTwo.length === 2 && !isElliptic ? namesBeside(passage, lastTwo, 'behind') : [],
  ].some((names) => names.length > 0 && !hasToken(names, name));
}

/** Whether a word is followed by one name in the claim and by another of the claim's in the passage. */
function isNameExchanged({ claim, passage }: Comparison, name: Token): boolean {
  const word = claim.tokens[claim.tokens.indexOf(name) - 1];
  if (word?.kind !== 'word') return false;
  const followers = passage.tokens.filter((token, index) => {
    const before = passage.tokens[index - 1];
    const isActor = token.isAgent && !name.isAgent;
    return token.kind === 'name' && !isActor && before !== undefined && isSame(before, word);
  });
  return (
    followers.length > 0 &&
    !hasToken(followers, name) &&
    followers.some((other) => hasToken(claim.tokens, other))
  );
}

/** Whether one of two that are the same is excepted; of "without written consent" both last words are. */
function isExceptedAlone(
  one: Token,
  among: readonly Token[],
  other: Token,
  others: readonly Token[],
): boolean {
  if (one.isExcepted === other.isExcepted) return false;
  const [plain, tokens] = one.isExcepted ? [other, others] : [one, among];
  return tokens[tokens.indexOf(plain) - 1]?.isExcepted !== true;
}

/** Whether what stands near is excepted on one side only, or the contrary of the claim's word. */
function isContrary({ claim, near }: Comparison, token: Token): boolean {
  const same = near.filter((other) => isSame(other, token));
  if (same.length > 0) return same.every((other) => isExceptedAlone(token, claim.tokens, other, near));
  if (near.some((other) => isPrefixed(token, other) || isPrefixed(other, token))) return true;
  const { opposite } = token;
  if (opposite === null) return false;
  const ofPair = near.filter(
    (other) => other.opposite?.pair === opposite.pair && !hasToken(claim.tokens, other),
  );
  return ofPair.length > 0 && ofPair.every((other) => other.opposite?.side !== opposite.side);
}

function isDeniedOtherwise(comparison: Comparison): boolean {
  const { claim, passage, clauses } = comparison;
  const denials = passage.negations.filter((clause) => clauses.has(clause)).length;
  if (denials % 2 !== claim.negations.length % 2) return true;
  const hasContrary = (token: Token): boolean =>
    token.opposite !== null ||
    passage.tokens.some((other) => isPrefixed(token, other) || isPrefixed(other, token));
  return claim.tokens.some(
    (token) => isContrary(comparison, token) || (hasContrary(token) && isOfOtherClause(comparison, token)),
  );
}

/** Part of a claim's numbers, names and words that a passage holds, 0 to 1. */
export function coverage(claim: Statement, passage: Statement): number {
  if (claim.tokens.length === 0) return 0;
  return claim.tokens.filter((token) => hasToken(passage.tokens, token)).length / claim.tokens.length;
}

/** Whether a number or name of the claim belongs to other words in the passage. */
function isBoundOtherwise(comparison: Comparison, kind: 'number' | 'name'): boolean {
  const isElsewhere = (anchor: Token): boolean =>
    isTakenFromElsewhere(comparison, anchor) || isOfOtherClause(comparison, anchor);
  const isOther = (anchor: Token): boolean =>
    kind === 'number'
      ? hasOtherCount(comparison.claim, comparison.near, anchor)
      : isNameReplaced(comparison, anchor) || isNameExchanged(comparison, anchor);
  return (
    anchorsOf(comparison.claim, kind).some((anchor) => isElsewhere(anchor) || isOther(anchor)) ||
    isCrossed(comparison, kind)
  );
}

/** The same, with words at the start of a sentence as names that are names elsewhere. */
function withNames(statement: Statement, names: readonly Token[]): Statement {
  const isName = (token: Token): boolean =>
    token.kind === 'word' && names.some((name) => isSame(name, token));
  return {
    ...statement,
    tokens: statement.tokens.map((token) => (isName(token) ? { ...token, kind: 'name' } : token)),
  };
}

/** What speaks against a passage as the source of a claim; null: nothing does. */
export function findFault(asClaimed: Statement, asWritten: Statement): ClaimFault | null {
  const allNames = [...anchorsOf(asClaimed, 'name'), ...anchorsOf(asWritten, 'name')];
  const claim = withNames(asClaimed, allNames);
  const passage = withNames(asWritten, allNames);
  if (coverage(claim, passage) < COMPARED_FROM) return 'words';
  const { from, to } = closestClauses(claim, passage);
  const near = passage.tokens.filter(({ clause }) => clause >= from && clause <= to);
  const anchored = passage.tokens.filter((token) => token.kind !== 'word' && hasToken(claim.tokens, token));
  const clauses = new Set([...near, ...anchored].map(({ clause }) => clause));
  const comparison: Comparison = { claim, passage, near, clauses };
  const isAbsent = (token: Token): boolean => !hasToken(passage.tokens, token);
  if (anchorsOf(claim, 'number').some(isAbsent) || isMeasuredOtherwise(claim, passage)) return 'number';
  if (isBoundOtherwise(comparison, 'number') || areExchanged(claim, passage)) return 'number';
  if (anchorsOf(claim, 'name').some(isAbsent)) return 'name';
  if (isDeniedOtherwise(comparison) || isTurnedRound(claim, passage, near)) return 'negation';
  if (isReversed(comparison) || isOfOtherAgent(comparison)) return 'roles';
  if (isBoundOtherwise(comparison, 'name')) return 'name';
  return coverage(claim, passage) < SUPPORTED_FROM ? 'words' : null;
}
