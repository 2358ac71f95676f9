import { splitSentences } from '../../text/sentences.js';
import { coverage, COMPARED_FROM, findFault } from './compare-statements.js';
import type { ClaimFault } from './compare-statements.js';
import { joinStatements, readStatement } from './read-statement.js';
import type { Statement } from './statement.js';

/** What lies beyond is not looked at, so that the work is bounded whatever a document says. */
export const MAX_TEXT_LENGTH = 40_000;
/** Sentences of a source that a claim is compared with, those that hold most of its words. */
const MAX_SENTENCES = 4;
/** How many sentences off a passage's missing words are looked for. */
const NEAR = 3;

/** A source as claims are compared with it. */
export interface CheckableSource {
  sentences: readonly Statement[];
  /** The sentences that hold a word, by its key. */
  holding: ReadonlyMap<string, readonly number[]>;
}

export function readSource(text: string): CheckableSource {
  const sentences = splitSentences(text.slice(0, MAX_TEXT_LENGTH)).map(readStatement);
  const holding = new Map<string, number[]>();
  sentences.forEach(({ tokens }, index) => {
    for (const key of new Set(tokens.flatMap(({ keys }) => keys))) {
      const list = holding.get(key);
      if (list === undefined) holding.set(key, [index]);
      else list.push(index);
    }
  });
  return { sentences, holding };
}

/** The sentences that hold most of a claim's words, best first. */
function likeliest(claim: Statement, { holding }: CheckableSource): number[] {
  const counts = new Map<number, number>();
  for (const key of new Set(claim.tokens.flatMap(({ keys }) => keys)))
    for (const index of holding.get(key) ?? []) counts.set(index, (counts.get(index) ?? 0) + 1);
  return [...counts]
    .sort(([one, count], [other, otherCount]) => otherCount - count || one - other)
    .slice(0, MAX_SENTENCES)
    .map(([index]) => index);
}

interface Place {
  from: number;
  to: number;
}

/** The passage with the sentences near it that hold what it lacks of the claim: they may speak against it. */
function widen(
  claim: Statement,
  passage: Statement,
  { from, to }: Place,
  sentences: readonly Statement[],
): Statement | null {
  const held = new Set(passage.tokens.flatMap(({ keys }) => keys));
  const wanted = new Set(
    claim.tokens.filter(({ keys }) => !keys.some((key) => held.has(key))).flatMap(({ keys }) => keys),
  );
  if (wanted.size === 0) return null;
  const start = Math.max(0, from - NEAR);
  const taken = sentences.slice(start, to + NEAR + 1).filter(({ tokens }, offset) => {
    const index = start + offset;
    return (index >= from && index <= to) || tokens.some(({ keys }) => keys.some((key) => wanted.has(key)));
  });
  return taken.length > to - from + 1 ? joinStatements(taken) : null;
}

function faultOf(claim: Statement, place: Place, sentences: readonly Statement[]): ClaimFault | null {
  const passage = joinStatements(sentences.slice(place.from, place.to + 1));
  const fault = findFault(claim, passage);
  if (fault !== null) return fault;
  const wider = widen(claim, passage, place, sentences);
  const against = wider === null ? null : findFault(claim, wider);
  return against === 'words' ? null : against;
}

/**
 * Whether some sentence of a source, or two beside each other, support a claim, as far as words tell: they hold its
 * words, its numbers and names are bound to the same words, nothing is denied on one side only, and who does what to
 * whom is not turned round. Other words for the same, an inference, or another language count as unsupported.
 *
 * @returns null when they do; else what speaks against the passage that comes nearest
 */
export function checkClaim(claim: Statement, source: CheckableSource): ClaimFault | null {
  const { sentences } = source;
  const places = likeliest(claim, source).flatMap((index): Place[] => [
    { from: index, to: index },
    ...(index > 0 ? [{ from: index - 1, to: index }] : []),
    ...(index + 1 < sentences.length ? [{ from: index, to: index + 1 }] : []),
  ]);
  const compared = places
    .map((place) => ({
      place,
      held: coverage(claim, joinStatements(sentences.slice(place.from, place.to + 1))),
    }))
    .filter(({ held }) => held >= COMPARED_FROM)
    .sort((one, other) => other.held - one.held);
  let fault: ClaimFault | null = null;
  for (const { place } of compared) {
    const found = faultOf(claim, place, sentences);
    if (found === null) return null;
    fault ??= found;
  }
  return fault ?? 'words';
}
