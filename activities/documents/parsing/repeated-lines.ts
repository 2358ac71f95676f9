/** A short line near the top or bottom edge of a page, which may be a running header or footer. */
export interface EdgeLine {
  page: number;
  text: string;
  /** Distance of its middle from the top of the page, as a part of the page's height. */
  height: number;
  /** A heading must repeat to the letter: "Chapter 1", "Chapter 2" at the top of pages are titles. */
  heading?: boolean;
}

export interface RepeatedLines {
  /** Takes the candidates of the next batch of pages. */
  learn(lines: EdgeLine[]): void;
  /** Whether the line stands at this height on at least three pages seen so far. */
  repeats(line: EdgeLine): boolean;
}

const ENOUGH_PAGES = 3;
const MAX_LENGTH = 160;
/** Lines within this part of the page height count as being at the same place. */
const BAND = 0.02;

/**
 * Finds running headers and footers: the same text at the same height on three pages, where one number may count
 * along with the pages ("Page 3 of 40", then "Page 4 of 40"). A title that repeats elsewhere on a page stays.
 */
export function createRepeatedLines(): RepeatedLines {
  const pagesByKey = new Map<string, Set<number>>();
  return {
    learn(lines) {
      for (const line of lines) {
        for (const key of keysOf(line)) {
          const pages = pagesByKey.get(key) ?? new Set();
          if (pages.size < ENOUGH_PAGES) pagesByKey.set(key, pages.add(line.page));
        }
      }
    },
    repeats: (line) => keysOf(line).some((key) => (pagesByKey.get(key)?.size ?? 0) >= ENOUGH_PAGES),
  };
}

function keysOf({ text, page, height, heading }: EdgeLine): string[] {
  const plain = text.toLowerCase().replace(/\s+/g, ' ').trim();
  if (plain === '' || plain.length > MAX_LENGTH) return [];
  const variants = [plain];
  for (const match of heading ? [] : plain.matchAll(/\d{1,6}/g)) {
    const lead = `${Number(match[0]) - page}`;
    variants.push(`${plain.slice(0, match.index)}\u0000${lead}${plain.slice(match.index + match[0].length)}`);
    if (variants.length > 4) break;
  }
  // A line at the border of two bands is looked for in both.
  const bands = [Math.floor(height / BAND), Math.floor(height / BAND + 0.5) + 0.5];
  return variants.flatMap((variant) => bands.map((band) => `${band}\u0000${variant}`));
}
