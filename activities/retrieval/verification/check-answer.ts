import { setImmediate } from 'node:timers/promises';
import { answerSentences, citedIn, withoutMarks } from './answer-sentences.js';
import { checkClaim, readSource } from './check-claim.js';
import type { CheckableSource } from './check-claim.js';
import type { ClaimFault } from './compare-statements.js';
import { readStatement } from './read-statement.js';
import type { Statement } from './read-statement.js';

/** Sentences beyond are not checked, and so not supported. */
const MAX_CHECKED = 60;
const MAX_LENGTH = 2_000;
/** A sentence of fewer numbers, names and words claims nothing that could be compared. */
const MIN_TOKENS = 2;

/** Whether a question, or words that lead to a list, claim something: a number, a name or a denial. */
function claimsSomething({ tokens, negations, isCut }: Statement): boolean {
  return isCut === true || negations.length > 0 || tokens.some(({ kind }) => kind !== 'word');
}

/** A sentence of an answer, beside its sources. */
export interface CheckedSentence {
  text: string;
  /** The numbers of the sources that it names. */
  cited: number[];
  /** Null: it claims nothing that could be checked, such as a question or "Here is what I found:". */
  supported: boolean | null;
  /** Why it is not supported; `unchecked`: the answer, or the sentence, is too long to check it all. */
  fault?: ClaimFault | 'unchecked';
}

export interface AnswerChecker {
  /** Checks a sentence as `answerSentences` cuts it. Other requests are served between two. */
  check(sentence: string): Promise<CheckedSentence>;
}

/**
 * Checks the sentences of one answer, each against the sources that it names, or against all where it names none.
 * @param texts of the sources, in the order of their numbers in the prompt
 */
export function createAnswerChecker(texts: readonly string[]): AnswerChecker {
  const sources = new Map<number, CheckableSource>();
  let checked = 0;

  const sourceOf = (number: number): CheckableSource | null => {
    const text = texts[number - 1];
    if (text === undefined) return null;
    const known = sources.get(number) ?? readSource(text);
    sources.set(number, known);
    return known;
  };

  const faultOf = async (
    sentence: string,
    numbers: readonly number[],
  ): Promise<ClaimFault | 'unchecked' | null> => {
    const claim = readStatement(sentence);
    // What was not read of it may say anything.
    if (claim.isCut === true) return 'unchecked';
    let fault: ClaimFault | null = null;
    for (const number of numbers) {
      await setImmediate();
      const source = sourceOf(number);
      const found = source === null ? 'words' : checkClaim(claim, source);
      if (found === null) return null;
      if (fault === null || fault === 'words') fault = found;
    }
    return fault ?? 'words';
  };

  return {
    async check(sentence) {
      const text = sentence.trim();
      const cited = [...citedIn(text)].sort((one, other) => one - other);
      const words = withoutMarks(text);
      const bare = words.trim();
      const statement = readStatement(bare);
      const leads = /[?:]$/.test(bare);
      if (statement.tokens.length < MIN_TOKENS || (leads && !claimsSomething(statement)))
        return { text, cited, supported: null };
      checked += 1;
      if (checked > MAX_CHECKED || text.length > MAX_LENGTH)
        return { text, cited, supported: false, fault: 'unchecked' };
      const fault = await faultOf(words, cited.length > 0 ? cited : texts.map((_, index) => index + 1));
      // No passage speaks of the same: it asks, or leads to a list.
      if (fault === 'words' && leads) return { text, cited, supported: null };
      return fault === null ? { text, cited, supported: true } : { text, cited, supported: false, fault };
    },
  };
}

/** Every sentence of an answer, checked. */
export async function checkAnswer(answer: string, texts: readonly string[]): Promise<CheckedSentence[]> {
  const checker = createAnswerChecker(texts);
  const checked: CheckedSentence[] = [];
  for (const sentence of answerSentences(answer))
    if (sentence.trim() !== '') checked.push(await checker.check(sentence));
  return checked;
}
