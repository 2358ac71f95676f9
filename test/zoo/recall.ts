export interface Recall {
  words: number;
  kept: number;
  missing: string[];
}

/** Scripts without spaces between words: each character counts by itself. */
const WORD =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]|(?:(?![\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}])[\p{L}\p{N}\p{M}])+/gu;

function wordsOf(text: string): string[] {
  return text.normalize('NFKC').toLowerCase().match(WORD) ?? [];
}

/**
 * How many words of a reference are in a text, paragraph by paragraph: of each as many as are there in the same order,
 * which is the longest common subsequence of the paragraph and the text.
 */
export function recallOf(reference: string, text: string): Recall {
  const shown = wordsOf(text);
  const places = new Map<string, number[]>();
  shown.forEach((word, at) => {
    const known = places.get(word);
    if (known === undefined) places.set(word, [at]);
    else known.push(at);
  });
  const recall: Recall = { words: 0, kept: 0, missing: [] };
  for (const paragraph of reference.split(/\n\s*\n/)) {
    const words = wordsOf(paragraph);
    recall.words += words.length;
    recall.kept += longestInOrder(words, places);
    recall.missing.push(...words.filter((word) => !places.has(word)));
  }
  return recall;
}

/** By the places that each length of a subsequence ends at, as in the search for increasing ones. */
function longestInOrder(words: readonly string[], places: ReadonlyMap<string, number[]>): number {
  const ends: number[] = [];
  for (const word of words) {
    // From the last place on, so that one word counts once.
    for (const place of [...(places.get(word) ?? [])].reverse()) {
      let [low, high] = [0, ends.length];
      while (low < high) {
        const middle = (low + high) >> 1;
        if (ends[middle]! < place) low = middle + 1;
        else high = middle;
      }
      ends[low] = place;
    }
  }
  return ends.length;
}
