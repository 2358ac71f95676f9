import { foldText, wordsOf } from '../../text/fold-text.js';
import { contentStems } from '../../text/question-terms.js';
import { splitSentences } from '../../text/sentences.js';
import { answerSentences } from '../verification/answer-sentences.js';
import { createMarkReader } from '../verification/source-marks.js';

/** Where an extract says what the answer says. Offsets count Unicode code points of the extract's text. */
export interface Support {
  quote: string;
  charStart: number;
  charEnd: number;
  /** The quote holds nearly all words of the claim, and all of its numbers. */
  verified: boolean;
  /** The sentence of the answer that the quote was found for. */
  claim: string;
}

/** What lies beyond is not looked at, so that the work is bounded whatever a model or a document says. */
const MAX_TEXT_LENGTH = 40_000;
const MAX_CLAIMS = 40;
const MAX_SENTENCES = 4000;
/** A claim of fewer content words could be found anywhere. */
const MIN_TERMS = 2;
/** Part of a claim's words that a sentence must hold to be shown beside it, and to stand for it. */
const SHOWN_FROM = 0.5;
const VERIFIED_FROM = 0.8;

interface Claim {
  text: string;
  terms: string[];
  numbers: string[];
  cites: ReadonlySet<number>;
}

function numbersIn(text: string): string[] {
  return wordsOf(foldText(text)).filter((word) => /\p{N}/u.test(word));
}

function claimsIn(answer: string, texts: readonly string[]): Claim[] {
  const readMarks = createMarkReader(texts);
  return answerSentences(answer)
    .map((sentence) => {
      const { cited, words } = readMarks(sentence);
      return { text: sentence.trim(), terms: contentStems(words), numbers: numbersIn(words), cites: cited };
    })
    .filter(({ terms }) => terms.length >= MIN_TERMS)
    .slice(0, MAX_CLAIMS);
}

/** Sentences of an extract with their places, white space around them left out. */
function sentencesIn(text: string): { start: number; end: number }[] {
  const found: { start: number; end: number }[] = [];
  let offset = 0;
  for (const line of text.split('\n')) {
    let inside = offset;
    for (const sentence of splitSentences(line)) {
      const start = inside + (sentence.length - sentence.trimStart().length);
      const end = inside + sentence.trimEnd().length;
      if (end > start) found.push({ start, end });
      inside += sentence.length;
    }
    offset += line.length + 1;
  }
  return found.slice(0, MAX_SENTENCES);
}

function codePoints(text: string): number {
  let count = 0;
  for (const _point of text) count++;
  return count;
}

/**
 * Finds the sentence of an extract that supports best what the answer says with its number beside it, or, where no
 * sentence names the number, what it says at all. Null when none comes near: an answer in other words, or in another
 * language, cannot be compared by its words.
 *
 * Linear in both texts: each claim walks the sentences that hold one of its words, and the numbers of claims and of
 * sentences are bounded.
 * The answer's sentences are read once; the function that is answered takes an extract and its number in the prompt.
 *
 * @param texts of all sources, in the order of their numbers
 */
export function createSupportFinder(answer: string, texts: readonly string[] = []) {
  const claims = claimsIn(answer.slice(0, MAX_TEXT_LENGTH), texts);
  return (extract: string, number: number): Support | null => supportIn(extract, number, claims);
}

function supportIn(extract: string, number: number, claims: readonly Claim[]): Support | null {
  const marked = claims.filter(({ cites }) => cites.has(number));
  const looked = marked.length > 0 ? marked : claims.filter(({ cites }) => cites.size === 0);
  if (looked.length === 0) return null;
  const text = extract.slice(0, MAX_TEXT_LENGTH);
  const sentences = sentencesIn(text);
  const holding = new Map<string, number[]>();
  sentences.forEach(({ start, end }, index) => {
    for (const stem of contentStems(text.slice(start, end))) {
      const list = holding.get(stem);
      if (list === undefined) holding.set(stem, [index]);
      else list.push(index);
    }
  });

  let best: { share: number; index: number; claim: Claim } | null = null;
  for (const claim of looked) {
    const counts = new Map<number, number>();
    for (const term of claim.terms)
      for (const index of holding.get(term) ?? []) counts.set(index, (counts.get(index) ?? 0) + 1);
    for (const [index, count] of counts) {
      const share = count / claim.terms.length;
      if (share >= SHOWN_FROM && (best === null || share > best.share)) best = { share, index, claim };
    }
  }
  if (best === null) return null;
  const { start, end } = sentences[best.index]!;
  const quote = text.slice(start, end);
  const numbers = new Set(numbersIn(quote));
  const charStart = codePoints(text.slice(0, start));
  return {
    quote,
    charStart,
    charEnd: charStart + codePoints(quote),
    verified: best.share >= VERIFIED_FROM && best.claim.numbers.every((one) => numbers.has(one)),
    claim: best.claim.text,
  };
}
