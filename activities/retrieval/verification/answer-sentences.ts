import { splitSentences } from '../../text/sentences.js';

/** A mark such as `[Source 2]` or `[Sources: 1, 3]` within an answer. */
const MARK = /\[\s*sources?(?:\s*:)?([\d\s,;&–-]+)\]/giu;

/** A mark that stands behind the full stop belongs to the sentence before it. */
const MARK_AHEAD = /^\s*(?:\[\s*sources?(?:\s*:)?[\d\s,;&–-]+\]\s*(?:\.\s*)?)+/iu;

/** A mark, or a bracket that begins one which has not come to its end. */
const BRACKETS = /\[\s*sources?(?:\s*:)?[\d\s,;&–-]+\]|\[(?=[^\]]{0,80}$)/giu;

/**
 * The same line with each mark as a word between signs, character for character: right behind a full stop, a bracket
 * counts as one that closes the sentence.
 */
function withoutBrackets(line: string): string {
  return line.replace(BRACKETS, (mark) => (mark === '[' ? '§' : `§${'X'.repeat(mark.length - 2)}§`));
}

/** The numbers of the sources that a sentence names. */
export function citedIn(sentence: string): Set<number> {
  return new Set(
    [...sentence.matchAll(MARK)].flatMap(([, list]) => (list ?? '').match(/\d{1,6}/g) ?? []).map(Number),
  );
}

export function withoutMarks(sentence: string): string {
  return sentence.replace(MARK, ' ');
}

/** Cuts an answer into its sentences, each with its marks, its line end and white space: nothing is left out. */
export function answerSentences(answer: string): string[] {
  const sentences: string[] = [];
  for (const line of answer.split(/(?<=\n)/)) {
    let end = 0;
    for (const { length } of splitSentences(withoutBrackets(line))) {
      const sentence = line.slice(end, end + length);
      end += length;
      const ahead = sentences.length === 0 ? '' : (MARK_AHEAD.exec(sentence)?.[0] ?? '');
      if (ahead !== '') sentences.push(`${sentences.pop() ?? ''}${ahead}`);
      if (sentence.length > ahead.length) sentences.push(sentence.slice(ahead.length));
    }
  }
  return sentences;
}
