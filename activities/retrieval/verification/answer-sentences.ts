import { splitSentences } from '../../text/sentences.js';
import { maskMarks, MASKED_AHEAD } from './source-marks.js';

/** At the start of a line a number in brackets is an entry of a list. */
const ENTRY = /^\s*\[\s?\d/u;

/**
 * Cuts an answer into its sentences, each with its marks, its line end and white space: nothing is left out. A mark
 * that stands behind the full stop belongs to the sentence before it.
 */
export function answerSentences(answer: string): string[] {
  const sentences: string[] = [];
  for (const line of answer.split(/(?<=\n)/)) {
    const masked = maskMarks(line);
    let end = 0;
    for (const { length } of splitSentences(masked)) {
      const sentence = line.slice(end, end + length);
      const isAhead = sentences.length > 0 && !(end === 0 && ENTRY.test(sentence));
      const ahead = isAhead ? (MASKED_AHEAD.exec(masked.slice(end, end + length))?.[0].length ?? 0) : 0;
      end += length;
      if (ahead > 0) sentences.push(`${sentences.pop() ?? ''}${sentence.slice(0, ahead)}`);
      if (sentence.length > ahead) sentences.push(sentence.slice(ahead));
    }
  }
  return sentences;
}
