const MARKS = /\p{M}+/gu;
const WORD = /[\p{L}\p{N}]+/gu;

/**
 * Lower case without accents, compatibility forms resolved (NFKD), so that `Été`, `été` and `ete` are one word.
 * Independent of the locale: `toLowerCase`, never `toLocaleLowerCase`. Ligatures that NFKD keeps are spelt out.
 */
export function foldText(text: string): string {
  return text
    .normalize('NFKD')
    .replace(MARKS, '')
    .toLowerCase()
    .replace(/œ/g, 'oe')
    .replace(/æ/g, 'ae')
    .replace(/ß/g, 'ss');
}

/** Folded, and words apart that an apostrophe or a hyphen joins. */
export function foldApart(text: string): string {
  return foldText(text).replace(/['’-]/g, ' ');
}

/** The runs of letters and digits in a text that has been folded. */
export function wordsOf(folded: string): string[] {
  return folded.match(WORD) ?? [];
}
