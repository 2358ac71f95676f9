import { setImmediate } from 'node:timers/promises';
import { isInOtherLanguage } from '../../text/other-language.js';
import { isUnspaced } from '../../text/unspaced-scripts.js';
import { answerSentences } from './answer-sentences.js';
import { checkClaim, MAX_TEXT_LENGTH, readSource } from './check-claim.js';
import type { CheckableSource } from './check-claim.js';
import type { ClaimFault } from './compare-statements.js';
import { clausesOf, sentencesOf } from './quotations.js';
import { readStatement } from './read-statement.js';
import { createMarkReader } from './source-marks.js';
import type { Statement } from './statement.js';

/** Sentences beyond are not checked, and so not supported. */
const MAX_CHECKED = 60;
const MAX_LENGTH = 2_000;
/** Questions, and words that lead to a list. */
const LEADS = /[?:？：]$/u;
/** A sentence of fewer numbers, names and words claims nothing that could be compared. */
const MIN_TOKENS = 2;
/** The same for letters of a script without white space: "yes" claims nothing. */
const MIN_LETTERS = 3;
/** A number, in the digits of any script or as it is written out in Chinese and Japanese. */
const NUMERAL = /[\p{N}二三四五六七八九十百千万萬億亿两兩零]/u;

/** Whether a question, or words that lead to a list, claim something: a number, a name or a denial. */
function claimsSomething({ tokens, negations, isCut }: Statement): boolean {
  return isCut === true || negations.length > 0 || tokens.some(({ kind }) => kind !== 'word');
}

/** How a sentence is compared: by rules over its words, or, where they do not hold, as a quotation. */
type Comparing = 'rules' | 'sentences' | 'clauses';

/** The rules know English and French; in a script without white space they cannot tell words apart. */
function comparingOf(bare: string): Comparing {
  if (isUnspaced(bare)) return 'clauses';
  return isInOtherLanguage(bare) ? 'sentences' : 'rules';
}

/** Whether a sentence claims nothing that could be checked. */
function claimsNothing(bare: string, comparing: Comparing): boolean {
  const leads = LEADS.test(bare);
  const isEmpty = leads && !NUMERAL.test(bare);
  if (comparing === 'clauses')
    return isEmpty || (!NUMERAL.test(bare) && (bare.match(/\p{L}/gu)?.length ?? 0) < MIN_LETTERS);
  const statement = readStatement(bare);
  if (statement.tokens.length < MIN_TOKENS) return true;
  return comparing === 'rules' ? leads && !claimsSomething(statement) : isEmpty;
}

/** A sentence of an answer, beside its sources. */
export interface CheckedSentence {
  text: string;
  /** The numbers of the sources that it names. */
  cited: number[];
  /** Null: it claims nothing that could be checked, such as a question or "Here is what I found:". */
  supported: boolean | null;
  /**
   * Why it is not supported; `unchecked`: the answer, or the sentence, is too long to check it all, or it is neither
   * in English nor in French and does not stand in its sources as it is.
   */
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
  const quotable = { clauses: new Map<number, string>(), sentences: new Map<number, string>() };
  const readMarks = createMarkReader(texts);
  let checked = 0;

  const sourceOf = (number: number): CheckableSource | null => {
    const text = texts[number - 1];
    if (text === undefined) return null;
    const known = sources.get(number) ?? readSource(text);
    sources.set(number, known);
    return known;
  };

  const isQuoted = (
    sentence: string,
    numbers: readonly number[],
    comparing: 'sentences' | 'clauses',
  ): boolean => {
    const partsOf = comparing === 'clauses' ? clausesOf : sentencesOf;
    const said = partsOf(sentence);
    return numbers.some((number) => {
      const parts =
        quotable[comparing].get(number) ?? partsOf((texts[number - 1] ?? '').slice(0, MAX_TEXT_LENGTH));
      quotable[comparing].set(number, parts);
      return parts.includes(said);
    });
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
      const { cited: named, words } = readMarks(text);
      const cited = [...named].sort((one, other) => one - other);
      const bare = words.trim();
      const comparing = comparingOf(bare);
      if (claimsNothing(bare, comparing)) return { text, cited, supported: null };
      checked += 1;
      if (checked > MAX_CHECKED || text.length > MAX_LENGTH)
        return { text, cited, supported: false, fault: 'unchecked' };
      const numbers = cited.length > 0 ? cited : texts.map((_, index) => index + 1);
      const fault =
        comparing === 'rules'
          ? await faultOf(words, numbers)
          : isQuoted(bare, numbers, comparing)
            ? null
            : 'unchecked';
      // No passage speaks of the same: it asks, or leads to a list.
      if (fault === 'words' && LEADS.test(bare)) return { text, cited, supported: null };
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
