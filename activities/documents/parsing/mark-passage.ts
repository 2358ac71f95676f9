/** A rectangle as shares of a page, from its upper left corner. */
export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

interface Page {
  width: number;
  height: number;
  textItems: readonly (Box & { text: string; words?: readonly (Box & { text: string })[] })[];
}

/** A word more or less on either side (a hyphen, a mark, a note) does not end a match. */
const SKIP = 3;
/** Of the passage's words; with fewer another passage was found. */
const ENOUGH = 0.6;
const MAX_WORDS = 600;

function plain(word: string): string {
  return word
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, '');
}

/** The places of page words that the passage's words are found at, when they are compared from one place on. */
function follow(page: readonly string[], passage: readonly string[], from: number): number[] {
  const found: number[] = [];
  let at = from;
  for (let wanted = 0; wanted < passage.length && at < page.length; wanted += 1) {
    const ahead = page.slice(at, at + SKIP + 1).indexOf(passage[wanted]!);
    if (ahead < 0) continue;
    found.push(at + ahead);
    at += ahead + 1;
  }
  return found;
}

/** Words beside each other on a line become one mark. */
function joined(boxes: readonly Box[]): Box[] {
  const marks: Box[] = [];
  for (const box of boxes) {
    const last = marks.at(-1);
    const sameLine = last !== undefined && Math.abs(last.y - box.y) < Math.max(last.height, box.height) / 2;
    if (last === undefined || !sameLine || box.x < last.x) {
      marks.push({ ...box });
      continue;
    }
    const bottom = Math.max(last.y + last.height, box.y + box.height);
    last.width = Math.max(last.width, box.x + box.width - last.x);
    last.y = Math.min(last.y, box.y);
    last.height = bottom - last.y;
  }
  return marks;
}

/** Where a passage stands on a page, as far as its words are found there in their order; else nothing. */
export function markPassage(page: Page, passage: string): Box[] {
  const wanted = passage.split(/\s+/).map(plain).filter(Boolean).slice(0, MAX_WORDS);
  const words = page.textItems
    .flatMap((item) => (item.words === undefined || item.words.length === 0 ? [item] : item.words))
    .map((word) => ({ ...word, text: plain(word.text) }))
    .filter(({ text }) => text !== '');
  const texts = words.map(({ text }) => text);
  const starts = new Set(wanted.slice(0, SKIP));
  let best: number[] = [];
  for (const [from, text] of texts.entries()) {
    if (!starts.has(text)) continue;
    const found = follow(texts, wanted, from);
    if (found.length > best.length) best = found;
  }
  // A passage may go on on the next page: then what is found reaches to the end of this one.
  const isWhole = best.length >= wanted.length * ENOUGH;
  const reachesEnd = best.length > SKIP && (best.at(-1) ?? 0) >= texts.length - SKIP - 1;
  if (best.length === 0 || (!isWhole && !reachesEnd)) return [];
  return joined(
    best.map((place) => {
      const { x, y, width, height } = words[place]!;
      return {
        x: x / page.width,
        y: y / page.height,
        width: width / page.width,
        height: height / page.height,
      };
    }),
  );
}
