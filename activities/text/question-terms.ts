import { foldText, wordsOf } from './fold-text.js';
import { languageOf } from './language-of.js';
import { lightStem } from './light-stem.js';
import { isStopWord } from './stop-words.js';

/** Words that ask instead of naming what is asked about. */
const ASKING = new Set(
  (
    'many much long often tell explain describe give show list know find mean combien dis dire dites explique ' +
    'expliquer expliquez decris decrire donne donner donnez indique indiquer montre trouver savoir sait veut'
  ).split(' '),
);

/** The distinct stems of the content words of a text, in order. */
export function contentStems(text: string): string[] {
  return [...new Set(wordsOf(foldText(text)).flatMap((word) => (isStopWord(word) ? [] : [lightStem(word)])))];
}

export interface Question {
  /** Stems of what is asked about. */
  terms: string[];
  language: 'en' | 'fr';
}

/** What a question asks for, as far as its words tell. */
export function readQuestion(text: string): Question {
  const folded = foldText(text);
  const words = wordsOf(folded);
  const content = words.filter((word) => !isStopWord(word));
  // "Explain!" alone asks about nothing else, so then the asking words are what there is.
  const about = content.filter((word) => !ASKING.has(word));
  return {
    terms: [...new Set((about.length > 0 ? about : content).map(lightStem))],
    language: languageOf(text) ?? 'en',
  };
}
