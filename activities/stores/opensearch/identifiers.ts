/** So many of a question are looked for as a whole; a list of part numbers is found by its parts. */
const MAX_IDENTIFIERS = 8;
const MAX_LENGTH = 100;

const EDGES = /^[^\p{L}\p{N}]+|(?<![^\p{L}\p{N}])[^\p{L}\p{N}]+$/gu;
/** Signs within, and a digit or an @: not every word with a dash. */
const INNER_SIGN = /[\p{L}\p{N}][^\p{L}\p{N}\s]+[\p{L}\p{N}]/u;
const DIGIT_OR_AT = /[\p{N}@]/u;

/**
 * What in a question names one thing exactly: error codes, part numbers, addresses of machines and of people, file
 * names (`ERR-4012`, `74-B12-009`, `10.0.0.7`, `ada@example.com`, `report-2024.pdf`), each once.
 */
export function identifiersIn(text: string): string[] {
  const found = new Set<string>();
  for (const [word] of text.matchAll(/\S+/g)) {
    const inner = word.length > 2 * MAX_LENGTH ? '' : word.replace(EDGES, '');
    if (inner.length <= MAX_LENGTH && DIGIT_OR_AT.test(inner) && INNER_SIGN.test(inner)) found.add(inner);
    if (found.size === MAX_IDENTIFIERS) break;
  }
  return [...found];
}
