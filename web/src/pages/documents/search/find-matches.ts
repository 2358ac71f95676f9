import type { TextRange } from '../../../shared/marked-text';

function plain(text: string): string {
  return text
    .normalize('NFD')
    .replace(/\p{Mn}/gu, '')
    .toLowerCase();
}

/** Words of one or two letters stand everywhere. */
const MIN_LETTERS = 3;

/** Where a text has the words of a question, or words that begin with them; counted in code points. */
export function findMatches(text: string, question: string): TextRange[] {
  const wanted = (plain(question).match(/[\p{L}\p{N}]+/gu) ?? []).filter(
    (word) => word.length >= MIN_LETTERS,
  );
  if (wanted.length === 0) return [];
  const ranges: TextRange[] = [];
  let units = 0;
  let points = 0;
  for (const { 0: word, index } of text.matchAll(/[\p{L}\p{N}\p{Mn}]+/gu)) {
    points += Array.from(text.slice(units, index)).length;
    units = index + word.length;
    const from = points;
    points += Array.from(word).length;
    const said = plain(word);
    if (wanted.some((start) => said.startsWith(start))) ranges.push({ from, to: points });
  }
  return ranges;
}
