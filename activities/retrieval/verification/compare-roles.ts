import { hasToken, isSame } from './compare-tokens.js';
import type { Statement, Token } from './statement.js';

/** Tokens of a claim whose order is compared, three by three. */
const MAX_ORDERED = 10;

interface Compared {
  claim: Statement;
  passage: Statement;
}

/** "A did B" where the passage has "A was done by B". */
function isActorSuffering(claim: Statement, passage: Statement): boolean {
  return claim.tokens.some((deed, index) => {
    const [actor, other] = [claim.tokens[index - 1], claim.tokens[index + 1]];
    if (actor === undefined || other === undefined || other.isAgent || other.kind === 'number') return false;
    return passage.tokens.some(
      (token, at) =>
        isSame(token, deed) &&
        passage.tokens[at - 1] !== undefined &&
        isSame(passage.tokens[at - 1]!, actor) &&
        passage.tokens[at + 1]?.isAgent === true &&
        isSame(passage.tokens[at + 1]!, other),
    );
  });
}

/** Whether another one acts: "replaced by A" where the passage has "replaced by B". */
export function isOfOtherAgent({ claim, passage }: Compared): boolean {
  return (
    isActorSuffering(claim, passage) ||
    claim.tokens.some((agent, index) => {
      const deed = claim.tokens[index - 1];
      if (!agent.isAgent || agent.kind === 'number' || deed === undefined) return false;
      const agents = passage.tokens.filter((token, at) => {
        const before = passage.tokens[at - 1];
        return token.isAgent && token.kind !== 'number' && before !== undefined && isSame(before, deed);
      });
      return agents.length > 0 && !hasToken(agents, agent);
    })
  );
}

/** Whether three words of the claim stand the other way round in a clause of the passage, and nowhere this way. */
export function isReversed({ claim, passage }: Compared): boolean {
  const known = claim.tokens
    .filter((token) => token.kind !== 'number' && hasToken(passage.tokens, token))
    .slice(0, MAX_ORDERED);
  const clauses = [...new Set(passage.tokens.map(({ clause }) => clause))].map((clause) =>
    passage.tokens.filter((token) => token.clause === clause),
  );
  const follows = (tokens: readonly Token[], order: readonly Token[]): boolean => {
    let next = 0;
    for (const token of tokens) if (next < order.length && isSame(token, order[next]!)) next += 1;
    return next === order.length;
  };
  const isAgent = (tokens: readonly Token[], token: Token): boolean =>
    tokens.some((other) => other.isAgent && isSame(other, token));
  const isTurned = (token: Token): boolean => isAgent(claim.tokens, token) !== isAgent(passage.tokens, token);
  return known.some((first, index) =>
    known.slice(index + 2).some((last, offset) => {
      if (isSame(first, last) || !clauses.some((tokens) => follows(tokens, [last, first]))) return false;
      // "A did B" and "B was done by A" say the same.
      if (isTurned(first) || isTurned(last)) return false;
      return known
        .slice(index + 1, index + 2 + offset)
        .some(
          (middle) =>
            middle.kind === 'word' &&
            clauses.some((tokens) => follows(tokens, [last, middle, first])) &&
            !follows(passage.tokens, [first, middle, last]),
        );
    }),
  );
}
