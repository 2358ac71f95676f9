import { splitSentences } from '../../text/sentences.js';

/** What stands between two signs, or white space. */
const CLAUSE = /[\p{L}\p{M}\p{N}%°]+/gu;
const PARAGRAPH_END = /\n\s*\n/u;
/** The mark of a list item or a heading. */
const ITEM = /^(?:[-*+•>#]+|\p{N}{1,3}[.)])\s+/u;
/** How a text is set, which says nothing. */
const LAYOUT = /["“”„«»*_`\s]+/gu;
const STOPS = /[\s.,;:!?…।؟۔]{1,12}$/u;

/** The clauses of a text in a script without white space, one after another, whatever signs stand between them. */
export function clausesOf(text: string): string {
  return ` ${(text.normalize('NFKC').toLowerCase().match(CLAUSE) ?? []).join(' ')} `;
}

function bareOf(sentence: string): string {
  return sentence.trim().toLowerCase().replace(ITEM, '').replace(LAYOUT, ' ').trim().replace(STOPS, '');
}

/**
 * The sentences of a text, one in a line. A part of one is not found in it: a denial may stand behind its other words,
 * as in German, or before them.
 */
export function sentencesOf(text: string): string {
  const sentences = text.normalize('NFKC').split(PARAGRAPH_END).flatMap(splitSentences).map(bareOf);
  return `\n${sentences.filter((sentence) => sentence !== '').join('\n')}\n`;
}
