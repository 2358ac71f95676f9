import { foldText, wordsOf } from '../../../text/fold-text.js';
import { ENGLISH_STOP_WORDS, FRENCH_STOP_WORDS } from '../../../text/stop-words.js';

/** Frequent words, accents folded as `foldText` folds them. */
const GERMAN =
  'aber als am an auch auf aus bei bis das dass dem den der des die doch durch ein eine einem einen einer eines er es ' +
  'fur hat haben ich ihr im in ist kann mit nach nicht noch nur oder sehr sein sich sie sind so uber um und unter vom ' +
  'von vor war was wenn werden wie wir wird zu zum zur';
const SPANISH =
  'al ante aqui como con cuando de del desde donde el ella en entre era es esta este esto fue ha hasta hay la las le lo ' +
  'los mas mi muy no o para pero por porque que se ser si sin sobre su sus tambien tiene todo un una y ya';

/** By Tesseract's codes. */
const FREQUENT: Readonly<Record<string, ReadonlySet<string>>> = {
  eng: ENGLISH_STOP_WORDS,
  fra: FRENCH_STOP_WORDS,
  deu: new Set(GERMAN.split(' ')),
  spa: new Set(SPANISH.split(' ')),
};
/** A start of the engine costs as much as a page. */
const MIN_PAGES = 2;
const MIN_WORDS = 15;
/** The best language has so many times the words of the next. */
const LEAD = 3;

/** In which languages OCR reads the pages of one document. */
export interface LanguageChoice {
  current(): readonly string[];
  /** Told the text of each page that was read. Answers the language that is chosen by it, once. */
  see(text: string): string | null;
  /** Back to all, and for good: a page was in none of what was chosen. */
  widen(): void;
}

/**
 * All that are configured, until the frequent words of some pages show that they are in one of them: a model for one
 * language is faster, and takes no letters of the others for its own. Of a language whose words are not known here
 * nothing can be told, so it is chosen by nothing but the configuration.
 */
export function createLanguageChoice(languages: readonly string[]): LanguageChoice {
  const counts = new Map(languages.map((language) => [language, 0]));
  let chosen: string | null = null;
  let pages = 0;
  let isOpen = languages.length > 1;
  return {
    current: () => (chosen === null ? languages : [chosen]),
    see(text) {
      if (!isOpen) return null;
      pages += 1;
      for (const word of wordsOf(foldText(text))) {
        const of = languages.filter((language) => FREQUENT[language]?.has(word) === true);
        // A word of several languages speaks for none.
        if (of.length === 1) counts.set(of[0]!, counts.get(of[0]!)! + 1);
      }
      const [[first, most] = ['', 0], [, next] = ['', 0]] = [...counts].sort((a, b) => b[1] - a[1]);
      if (pages < MIN_PAGES || most < MIN_WORDS || most < LEAD * next) return null;
      isOpen = false;
      return (chosen = first);
    },
    widen: () => void (chosen = null),
  };
}
