import { ARTICLES, FRENCH_DIGITS, measureOf, periodOf, RATE_MARKS, zerosOf } from './measures.js';
import type { Measure } from './measures.js';
import { isYearDigits, withZeros } from './read-number.js';
import type { Token } from './statement.js';

export interface ReadWord {
  text: string;
  folded: string;
  stem: string;
  /** The folded word before it. */
  before: string;
  /** It stands before an apostrophe ("l'eau") or behind one ("2020's"). */
  isElided: boolean;
  isBeforeCurrency: boolean;
}

/** What a word is to the number before it. */
export interface QuantityWord {
  measure: Measure | null;
  /** It multiplies the number. */
  multiplies: boolean;
}

const LINKS: ReadonlySet<string> = new Set(['of', 'de', 'd']);
const NONE: QuantityWord = { measure: null, multiplies: false };
/** A unit of one letter is written so: others are initials, and most are stop words. */
const LETTER = /^[a-zVWL]$/;
const BYTES = /^[KMGT]o$/;

/** Binds units, rates and multipliers to the numbers of one statement. */
export class QuantityReader {
  /** The number whose unit may follow. */
  private counted: Token | null = null;
  /** The last number of the clause, whose rate may follow. */
  private last: Token | null = null;
  /** The currency before a number. */
  private pending: Measure | null = null;
  private mark: 'rate' | 'article' | null = null;
  /** The last piece was a number or its unit. */
  private isBehindAmount = false;

  number(token: Token): void {
    token.measure = this.pending;
    this.pending = null;
    this.counted = token;
    this.last = token;
    this.mark = null;
    this.isBehindAmount = true;
  }

  sign(sign: string, isBeforeNumber: boolean): void {
    const measure = measureOf(sign);
    if (isBeforeNumber || this.counted === null) this.pending = isBeforeNumber ? measure : null;
    else this.counted.measure ??= measure;
  }

  slash(): void {
    this.mark = this.isBehindAmount ? 'rate' : null;
  }

  nextClause(): void {
    this.counted = null;
    this.last = null;
    this.pending = null;
    this.mark = null;
    this.isBehindAmount = false;
  }

  word(word: ReadWord): QuantityWord {
    const { counted, mark, isBehindAmount } = this;
    this.mark = null;
    this.pending = null;
    this.isBehindAmount = false;
    if (counted !== null && LINKS.has(word.folded)) return NONE;
    this.counted = null;
    if (counted !== null) {
      const found = this.behindNumber(word, counted);
      if (found !== null) return found;
    }
    const measure = (mark === null ? null : unitOf(word)) ?? periodOf(word.stem);
    if (measure !== null) {
      if (mark !== 'article' && this.last !== null) this.last.rate ??= measure;
      return { measure, multiplies: false };
    }
    if (RATE_MARKS.has(word.folded)) this.mark = 'rate';
    else if (ARTICLES.has(word.folded)) this.mark = isBehindAmount ? 'rate' : 'article';
    return NONE;
  }

  private behindNumber(word: ReadWord, counted: Token): QuantityWord | null {
    const isOfMoney = word.isBeforeCurrency || counted.measure?.dimension === 'money';
    const zeros = word.isElided ? null : zerosOf(word.stem, isOfMoney, FRENCH_DIGITS.has(word.before));
    const isYear = isYearDigits(counted.keys[0] ?? '') && counted.measure === null;
    if (zeros !== null && !(isYear && zeros < 6)) {
      counted.keys = [withZeros(counted.keys[0] ?? '', zeros)];
      counted.zeros = 0;
      this.counted = counted;
      this.isBehindAmount = true;
      return { measure: null, multiplies: true };
    }
    // "In 2020 an engineer" counts no years.
    const measure = word.folded === 'an' && counted.keys[0] !== '1' ? null : unitOf(word);
    if (measure === null) return null;
    counted.measure ??= measure;
    this.isBehindAmount = true;
    return { measure, multiplies: false };
  }
}

function unitOf({ text, stem, isElided }: ReadWord): Measure | null {
  if (isElided || (text.length === 1 && !LETTER.test(text))) return null;
  return measureOf(BYTES.test(text) ? `${text[0]!.toLowerCase()}b` : stem);
}
