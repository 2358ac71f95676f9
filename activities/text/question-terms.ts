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

/** Questions whose answer is most likely a number or a date. */
const ASKS_NUMBER =
  /\b(?:when|how (?:many|much|long|old|often|far|high|big|fast)|what (?:year|date|time)|quand|combien|quelle (?:annee|date|duree|heure|taille|distance|hauteur|vitesse)|quel (?:nombre|age|montant|prix|pourcentage|delai|mois|jour))\b/;

/** The distinct stems of the content words of a text, in order. */
export function contentStems(text: string): string[] {
  return [...new Set(wordsOf(foldText(text)).flatMap((word) => (isStopWord(word) ? [] : [lightStem(word)])))];
}

export interface Question {
  /** Stems of what is asked about. */
  terms: string[];
  asksNumber: boolean;
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
    asksNumber: ASKS_NUMBER.test(folded),
    language: languageOf(text) ?? 'en',
  };
}
