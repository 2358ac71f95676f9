import { foldText, wordsOf } from './fold-text.js';
import { ENGLISH_STOP_WORDS, FRENCH_STOP_WORDS } from './stop-words.js';

/**
 * The language of a text by its stop words; letters with French accents break a tie. Null: it cannot be told, as of a
 * few names or numbers.
 */
export function languageOf(text: string): 'en' | 'fr' | null {
  const words = wordsOf(foldText(text));
  const count = (list: ReadonlySet<string>): number => words.filter((word) => list.has(word)).length;
  const lead = count(FRENCH_STOP_WORDS) - count(ENGLISH_STOP_WORDS);
  if (lead !== 0) return lead > 0 ? 'fr' : 'en';
  return /[àâçèéêëîïôùûœ]/i.test(text) ? 'fr' : null;
}
