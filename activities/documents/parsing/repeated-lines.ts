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
  /** Whether a line that repeats is the first one that is asked for, and says more than the number of a page. */
  takeFirst(line: EdgeLine): boolean;
  /** Whether a heading that repeats is the title of pages that follow each other, as those of slides are. */
  isTitle(line: EdgeLine): boolean;
}

const ENOUGH_PAGES = 3;
const MAX_LENGTH = 160;
/** Lines within this part of the page height count as being at the same place. */
const BAND = 0.02;
/** The number that is printed behind words is no more than this ahead of the page's place in the file. */
const LEAD = 30;
/** Beside numbers they say which page it is, and nothing else. */
const PAGE_WORDS = new Set(
  'page pages p pp pg pag pagina pagine página páginas pág seite seiten s sida side str стр 页 頁 第 ページ of von sur de di van av z'.split(
    ' ',
  ),
);
/** A number behind one of these is that of a document. */
const NUMBER_WORDS = new Set(
  (
    'no nr n num number numéro nummer número numero nº invoice facture rechnung factura fattura lot order commande ' +
    'bestellung pedido offer devis angebot receipt reçu quittung ticket question exercise exercice aufgabe payslip'
  ).split(' '),
);
/** What parts the number of a page from a title in front of it. */
const DIVIDER = /\s[|–—·•]\s?$/;

/**
 * Finds running headers and footers: the same text at the same height on three pages, where one number may count
 * along with the pages ("Page 3 of 40", then "Page 4 of 40"). Numbers of documents ("Invoice 1003", then
 * "Invoice 1004") are none of a page. A title that repeats elsewhere on a page stays.
 */
export function createRepeatedLines(): RepeatedLines {
  const pagesByKey = new Map<string, Set<number>>();
  const taken = new Set<string>();
  const titles = createTitles();
  const isKnown = (key: string): boolean => (pagesByKey.get(key)?.size ?? 0) >= ENOUGH_PAGES;
  return {
    learn(lines) {
      for (const line of lines) {
        for (const key of keysOf(line)) {
          const pages = pagesByKey.get(key) ?? new Set();
          if (pages.size < ENOUGH_PAGES) pagesByKey.set(key, pages.add(line.page));
        }
        if (line.heading) titles.learn(line);
      }
    },
    repeats: (line) => keysOf(line).some(isKnown),
    takeFirst(line) {
      const repeating = variantsOf(line).filter((variant) => inBands(variant, line).some(isKnown));
      const isFirst = !repeating.some((variant) => taken.has(variant));
      for (const variant of repeating) taken.add(variant);
      return isFirst && repeating.some((variant) => !isPageNumber(variant));
    },
    isTitle: titles.has,
  };
}

/** Headings that stand on two pages in a row, where other headings stand in their place on other pages. */
function createTitles(): { learn(line: EdgeLine): void; has(line: EdgeLine): boolean } {
  const lastPages = new Map<string, number>();
  const followed = new Set<string>();
  const firstInBand = new Map<number, string>();
  const shared = new Set<number>();
  const isFollowed = (line: EdgeLine): boolean => keysOf(line).some((key) => followed.has(key));
  return {
    learn(line) {
      for (const key of keysOf(line)) {
        if (lastPages.get(key) === line.page - 1) followed.add(key);
        lastPages.set(key, line.page);
      }
      for (const band of bandsOf(line)) {
        const first = firstInBand.get(band);
        if (first === undefined) firstInBand.set(band, line.text);
        else if (first !== line.text) shared.add(band);
      }
    },
    has: (line) => isFollowed(line) && bandsOf(line).some((band) => shared.has(band)),
  };
}

function keysOf(line: EdgeLine): string[] {
  return variantsOf(line).flatMap((variant) => inBands(variant, line));
}

/** A line at the border of two bands is looked for in both. */
function bandsOf({ height }: EdgeLine): number[] {
  return [Math.floor(height / BAND), Math.floor(height / BAND + 0.5) + 0.5];
}

function inBands(variant: string, line: EdgeLine): string[] {
  return bandsOf(line).map((band) => `${band}\u0000${variant}`);
}

function variantsOf({ text, page, heading }: EdgeLine): string[] {
  const plain = text.toLowerCase().replace(/\s+/g, ' ').trim();
  if (plain === '' || plain.length > MAX_LENGTH) return [];
  const variants = [plain];
  for (const match of heading ? [] : plain.matchAll(/\d{1,6}/g)) {
    const [before, after] = [plain.slice(0, match.index), plain.slice(match.index + match[0].length)];
    if (!isPageNumber(plain) && !mayCountPages(match[0], { before, after, page })) continue;
    variants.push(`${before}\u0000${Number(match[0]) - page}${after}`);
    if (variants.length > 4) break;
  }
  return variants;
}

function wordsOf(text: string): string[] {
  return text.split(/[^\p{L}º]+/u).filter((word) => word !== '');
}

/** Numbers, signs and words for pages alone. */
function isPageNumber(text: string): boolean {
  return wordsOf(text).every((word) => PAGE_WORDS.has(word));
}

/** Of what looks like a total of pages. */
function isYear(total: number): boolean {
  return total >= 1900 && total <= 2100;
}

/** Whether a number among words may be that of the page, and is not one of an invoice, a lot or a month. */
function mayCountPages(
  number: string,
  { before, after, page }: { before: string; after: string; page: number },
): boolean {
  if (number.length > 1 && number.startsWith('0')) return false;
  // Offprints and chapters count on from the pages before them.
  if (before === '' || (after === '' && DIVIDER.test(before))) return true;
  if (Number(number) > page + LEAD) return false;
  const word = wordsOf(before).at(-1) ?? '';
  if (NUMBER_WORDS.has(word) || /[#№°]\s?$/.test(before)) return false;
  if (PAGE_WORDS.has(word) || after === '') return true;
  const total = /^ ?(?:\/|of|von|sur|de|di) ?(\d{1,5})$/.exec(after)?.[1];
  return total !== undefined && !isYear(Number(total));
}
