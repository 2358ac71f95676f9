import { foldText } from './fold-text.js';
import { lightStem } from './light-stem.js';
import { cutSingleCharacters, hasSingleCharacters } from './single-characters.js';
import { isStopWord } from './stop-words.js';

const WORD = /[\p{L}\p{M}\p{N}]+/gu;

/** Stems of words that were seen; '' of a stop word. 2 MiB. */
const known = new Map<string, string>();
const MAX_KNOWN = 20_000;
/** V8 keeps the whole text of a longer part of it. */
const MAX_KNOWN_LENGTH = 12;

function stemOf(word: string): string {
  const present = known.get(word);
  if (present !== undefined) return present;
  const folded = foldText(word);
  const stem = isStopWord(folded) ? '' : lightStem(folded);
  if (word.length > MAX_KNOWN_LENGTH) return stem;
  if (known.size === MAX_KNOWN) known.clear();
  known.set(word, stem);
  return stem;
}

function wordsIn(text: string): string[] {
  const words = text.toLowerCase().match(WORD) ?? [];
  return hasSingleCharacters(text) ? words.flatMap(cutSingleCharacters) : words;
}

export interface StemCounts {
  /** How often each stem of the content words stands in the text; single letters and digits are left out. */
  stems: ReadonlyMap<string, number>;
  /** Of all words of these stems. */
  counted: number;
  /** With stop words. */
  words: number;
}

export function countStems(text: string): StemCounts {
  const words = wordsIn(text);
  const stems = new Map<string, number>();
  let counted = 0;
  for (const word of words) {
    const stem = stemOf(word);
    if (stem.length < 2 && !hasSingleCharacters(stem)) continue;
    stems.set(stem, (stems.get(stem) ?? 0) + 1);
    counted += 1;
  }
  return { stems, counted, words: words.length };
}
