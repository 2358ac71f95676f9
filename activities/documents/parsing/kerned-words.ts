import type { TextItem, WordBox } from '@llamaindex/liteparse';

/** A gap below this part of the letters' height may be none between words. */
const MAX_GAP = 0.15;
/** Nor is one below this part of what words usually stand apart. */
const OF_USUAL_GAP = 0.6;
/** Words that lie over each other were put there separately. */
const MAX_OVERLAP = 0.1;
const MAX_REMEMBERED = 200_000;

/** Joins words of a document that its reader took apart. */
export interface WordJoiner {
  /** Takes the next pages and answers how to mend their text. */
  learn(items: readonly TextItem[]): (text: string) => string;
}

/**
 * Joins words that the reader took apart where a font moves two letters apart ("dec larations"). Two things tell them:
 * the gap is much less than words usually have between them, and the parts are no words elsewhere in the document, or
 * the whole is one.
 */
export function createWordJoiner(): WordJoiner {
  const seen = new Set<string>();
  return {
    learn(items) {
      const level = items.filter(({ rotation, words }) => (rotation ?? 0) === 0 && words !== undefined);
      const usual = usualGap(level);
      const suspects = new Map<string, string[]>();
      for (const { words, height } of level)
        for (const run of runsOf(
          words!,
          height * Math.min(MAX_GAP, usual * OF_USUAL_GAP),
          height * MAX_OVERLAP,
        )) {
          if (run.length > 1) suspects.set(run.join(' '), run);
          else if (seen.size < MAX_REMEMBERED) seen.add(bare(run[0]!));
        }
      const joined = [...suspects].filter(
        ([, run]) => seen.has(bare(run.join(''))) || !run.some((part) => seen.has(bare(part))),
      );
      if (joined.length === 0) return (text) => text;
      const whole = new Map(joined.map(([apart, run]) => [apart, run.join('')]));
      const longestFirst = [...whole.keys()].sort((a, b) => b.length - a.length);
      const pattern = new RegExp(
        `(?<![\\p{L}\\p{N}])(?:${longestFirst.map(escapeRegExp).join('|')})(?![\\p{L}\\p{N}])`,
        'gu',
      );
      return (text) => text.replace(pattern, (found) => whole.get(found) ?? found);
    },
  };
}

/** As a part of the height, the gap that half of the words have or exceed. */
function usualGap(items: readonly TextItem[]): number {
  const gaps = items.flatMap(({ words, height }) =>
    words!.slice(1).map((word, i) => gapBetween(words![i]!, word) / height),
  );
  return gaps.sort((a, b) => a - b)[gaps.length >> 1] ?? 0;
}

/** The words of a line; those that stand too close to be words of their own together. */
function runsOf(words: readonly WordBox[], most: number, overlap: number): string[][] {
  const runs: string[][] = [];
  words.forEach((word, i) => {
    const last = words[i - 1];
    const close =
      last !== undefined &&
      /\p{L}$/u.test(last.text) &&
      /^\p{Ll}/u.test(word.text) &&
      gapBetween(last, word) > -overlap &&
      gapBetween(last, word) < most;
    if (close) runs.at(-1)!.push(word.text);
    else runs.push([word.text]);
  });
  return runs;
}

function gapBetween(left: WordBox, right: WordBox): number {
  return right.x - (left.x + left.width);
}

function bare(word: string): string {
  return word.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '');
}

function escapeRegExp(text: string): string {
  return text.replace(/[$()*+.?[\\\]^{|}/]/g, '\\$&');
}
