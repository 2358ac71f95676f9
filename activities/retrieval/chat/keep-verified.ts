import { answerSentences } from '../verification/answer-sentences.js';
import type { AnswerChecker, CheckedSentence } from '../verification/check-answer.js';
import { isMarkBegun } from '../verification/source-marks.js';
import type { RelayedAnswer, ShownDelta } from './relay-model-stream.js';

/** What becomes of a sentence that its sources do not support. */
export type Unverified = 'drop' | 'mark';

const MARK = '[unverified]';
/** A sentence that goes on for longer is checked as far as it has come, so that what is kept back is bounded. */
const MAX_KEPT_BACK = 4_000;
/** Before so much has come, or a sentence may have ended, nothing is cut. */
const CUT_EVERY = 200;

/** A sentence of the answer as it was shown. */
export interface JudgedSentence extends CheckedSentence {
  /** Left out of the answer. */
  withheld: boolean;
}

export interface VerifiedAnswer {
  relay: RelayedAnswer;
  sentences: JudgedSentence[];
}

function marked(sentence: string): string {
  const end = sentence.search(/(?<!\s)\s+$/);
  return end === -1 ? `${sentence} ${MARK}` : `${sentence.slice(0, end)} ${MARK}${sentence.slice(end)}`;
}

/**
 * Passes an answer on sentence by sentence, each once it has been checked: one that is not supported is left out or
 * marked. Whatever comes beside the words passes at once; probabilities of tokens do not, since they belong to words
 * that may be left out.
 *
 * @param nothingLeft said instead when every sentence that claims something was left out
 * @throws what the stream throws, and `options.signal`'s reason
 */
export async function* keepVerified(
  shown: AsyncGenerator<ShownDelta, RelayedAnswer, undefined>,
  checker: AnswerChecker,
  { unverified, nothingLeft, signal }: { unverified: Unverified; nothingLeft: string; signal: AbortSignal },
): AsyncGenerator<ShownDelta, VerifiedAnswer, undefined> {
  const sentences: JudgedSentence[] = [];
  let held = '';
  let uncut = 0;

  const judge = async (sentence: string): Promise<string> => {
    if (sentence.trim() === '') return sentence;
    signal.throwIfAborted();
    const checked = await checker.check(sentence);
    const withheld = checked.supported === false && unverified === 'drop';
    sentences.push({ ...checked, withheld });
    if (checked.supported !== false) return sentence;
    return withheld ? '' : marked(sentence);
  };
  const release = async (isEnd: boolean): Promise<string> => {
    const parts = answerSentences(held);
    // The last may go on; and while it may yet become a mark, so may the one that the mark belongs to.
    const open = isMarkBegun(parts.at(-1) ?? '') ? 2 : 1;
    const whole = isEnd || held.length > MAX_KEPT_BACK ? parts : parts.slice(0, -open);
    held = parts.slice(whole.length).join('');
    uncut = 0;
    const judged: string[] = [];
    for (const sentence of whole) judged.push(await judge(sentence));
    return judged.join('');
  };

  try {
    for (;;) {
      const step = await shown.next();
      if (step.done === true) {
        const rest = await release(true);
        if (rest !== '') yield { type: 'delta', content: rest };
        const isSilent =
          sentences.length > 0 &&
          sentences.every(({ withheld, supported }) => withheld || supported === null);
        if (isSilent && sentences.some(({ withheld }) => withheld))
          yield { type: 'delta', content: nothingLeft };
        return { relay: step.value, sentences };
      }
      const { content, more } = step.value;
      held += content;
      uncut += content.length;
      const text = /[.!?\n]/.test(content) || uncut > CUT_EVERY ? await release(false) : '';
      if (text !== '' || more !== undefined)
        yield { type: 'delta', content: text, ...(more !== undefined && { more }) };
    }
  } finally {
    await shown.return({} as RelayedAnswer).catch(() => undefined);
  }
}
