import { foldText, wordsOf } from './fold-text.js';

/** Names are short; of what is longer the rest says little. */
const MAX_CHARACTERS = 300;

/** Runs of three characters of each word, with its beginning and end marked, as PostgreSQL's pg_trgm cuts them. */
function trigramsOf(text: string): Set<string> {
  const grams = new Set<string>();
  for (const word of wordsOf(foldText(text.slice(0, MAX_CHARACTERS)))) {
    const marked = `  ${word} `;
    for (let start = 0; start + 3 <= marked.length; start += 1) grams.add(marked.slice(start, start + 3));
  }
  return grams;
}

/**
 * How much names are like a query, from 0 to 1 (the same words): two thirds is how much of the query is found in the
 * name, so that a part of a long name is enough, and one third how much of the two is common.
 */
export function createNameLikeness(query: string): (name: string) => number {
  const asked = trigramsOf(query);
  return (name) => {
    const given = trigramsOf(name);
    if (asked.size === 0 || given.size === 0) return 0;
    let common = 0;
    for (const gram of asked) if (given.has(gram)) common += 1;
    return (2 * (common / asked.size) + (2 * common) / (asked.size + given.size)) / 3;
  };
}
