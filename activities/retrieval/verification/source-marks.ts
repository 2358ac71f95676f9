import { MAX_TEXT_LENGTH } from './check-claim.js';

/**
 * A bracket of one line that begins with the number of a source: `[Source 2]`, `[Sources: 1, 3]`, `(Source 1)`,
 * `【Source 1】`, `[Source 1 and Source 2]`, `[Source 1: pump.pdf, page 3]`.
 */
const NAMED =
  /\[\s{0,4}sources?\s{0,4}:?\s{0,4}(?:sources?\s{0,4})?\d{1,6}(?=\s{0,4}(?:[\],;:&|/–-]|and\s|et\s))[^\][\n]{0,200}\]|【\s{0,4}sources?\s{0,4}:?\s{0,4}(?:sources?\s{0,4})?\d{1,6}(?=\s{0,4}(?:[】,;:&|/†–-]|and\s|et\s))[^【】\n]{0,200}】|\(\s{0,4}sources?\s{0,4}:?\s{0,4}(?:sources?\s{0,4})?\d{1,6}(?=\s{0,4}(?:[),;:&|/–-]|and\s|et\s))[^()\n]{0,200}\)/giu;
/** A bracket of numbers alone: `[1]`, `[1, 3]`. Documents write such ones too. */
const NUMBERED = /\[\s?\d{1,3}(?:\s?[,;–-]\s?\d{1,3}){0,20}\s?\]/gu;
/** What may yet become one of both. */
const BEGUN =
  /(?:[[【(]\s{0,4}(?:s|so|sou|sour|sourc|sources?\s{0,4}:?\s{0,4}(?:sources?\s{0,4})?(?:\d[^\][【】()\n]{0,200})?)?|\[\s?\d[\d\s,;–-]{0,80})$/iu;
/** Any square bracket that has not come to its end. */
const OPEN = /\[(?=[^\]]{0,80}$)/gu;
const OPEN_ALONE = /^\s*\[[^\]]{0,80}$/u;
/** "According to Source 1, …", "Sources 1 and 3 say …". */
const SPOKEN =
  /(?<![\p{L}\p{N}])(?:(?:[Aa]ccording to|[Ss]elon|[Dd]['’]après) )?(?:[Ll]a |[Ll]es |[Tt]he )?(?:Sources \d{1,3}(?:(?:, | (?:and|et|&) |[–-])\d{1,3}){1,20}|Source \d{1,3})(?![\p{L}\p{N}%°]|[.,]\p{N})/gu;

/** The numbers behind one "Source"; a name or a page behind them ends the list. */
const LIST = /sources?\s{0,4}:?\s{0,4}(\d{1,6}(?:\s{0,4}(?:[,;&/–-]|and|et)\s{0,4}\d{1,6}){0,50})/giu;
const SPAN = /(\d{1,6})(?:\s{0,4}[–-]\s{0,4}(\d{1,6}))?/gu;

/** @param sourceCount what lies between two numbers is read no further */
function numbersIn(list: string, sourceCount: number): number[] {
  return [...list.matchAll(SPAN)].flatMap(([, first, last]) => {
    const [from, to] = [Number(first), Number(last ?? first)];
    const between = Array.from(
      { length: Math.max(0, Math.min(to - 1, sourceCount) - from) },
      (_, offset) => from + 1 + offset,
    );
    return from === to ? [from] : [from, ...between, to];
  });
}

/** A mark as it is known in the text of a document, without what leads to it. */
function keyOf(mark: string): string {
  const folded = mark.toLowerCase();
  return folded.slice(Math.max(0, folded.indexOf('source')));
}

export interface ReadMarks {
  /** The numbers of the sources that the sentence names. */
  cited: Set<number>;
  /** The sentence without its marks. */
  words: string;
}

/**
 * Reads the marks of one answer's sentences. What a model was asked for, `[Source 2]`, is one in any case. Numbers
 * alone and the like are marks where a source has the number and no document writes them itself.
 *
 * @param texts of the sources, in the order of their numbers in the prompt
 */
export function createMarkReader(texts: readonly string[]): (sentence: string) => ReadMarks {
  const written = new Set(
    texts.flatMap((text) => {
      const looked = text.slice(0, MAX_TEXT_LENGTH);
      const others = looked.replace(NAMED, ' ');
      return [looked.match(NAMED), others.match(NUMBERED), others.match(SPOKEN)].flatMap((marks) =>
        (marks ?? []).map(keyOf),
      );
    }),
  );
  const isOwn = (mark: string, numbers: readonly number[]): boolean =>
    !written.has(keyOf(mark)) && numbers.every((number) => number >= 1 && number <= texts.length);
  return (sentence) => {
    const cited = new Set<number>();
    const take = (mark: string, numbers: readonly number[]): string => {
      if (!mark.startsWith('[') && !isOwn(mark, numbers)) return mark;
      for (const number of numbers) cited.add(number);
      return ' ';
    };
    const listed = (mark: string): number[] =>
      [...mark.matchAll(LIST)].flatMap(([, list]) => numbersIn(list ?? '', texts.length));
    let words = sentence.replace(NAMED, (mark) => take(mark, listed(mark)));
    const isNumbered = cited.size === 0;
    words = words.replace(SPOKEN, (mark) => take(mark, listed(mark)));
    if (isNumbered)
      words = words.replace(NUMBERED, (mark) => {
        const numbers = numbersIn(mark, texts.length);
        return isOwn(mark, numbers) ? take(mark, numbers) : mark;
      });
    return { cited, words };
  };
}

/** What `maskMarks` makes of marks at the start of a text; a full stop may stand behind each. */
export const MASKED_AHEAD = /^\s*(?:§X+§\s*(?:\.\s*)?)+/u;

/**
 * The same line with each mark as a word between signs, character for character: right behind a full stop, a bracket
 * counts as one that closes the sentence. So does one that has not come to its end.
 */
export function maskMarks(line: string): string {
  const asWord = (mark: string): string => `§${'X'.repeat(mark.length - 2)}§`;
  return line
    .replace(NAMED, asWord)
    .replace(NUMBERED, asWord)
    .replace(BEGUN, (begun) => `§${'X'.repeat(begun.length - 1)}`)
    .replace(OPEN, '§');
}

/** Whether a text begins with a bracket that may yet become a mark, and holds nothing else. */
export function isMarkBegun(text: string): boolean {
  return OPEN_ALONE.test(text) || BEGUN.exec(text)?.index === text.search(/\S/u);
}
