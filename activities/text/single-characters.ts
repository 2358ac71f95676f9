const SINGLE = /[\p{Script=Han}\p{Script=Hiragana}]/u;
const BY_CHARACTER = /[\p{Script=Han}\p{Script=Hiragana}]|[^\p{Script=Han}\p{Script=Hiragana}]+/gu;

/** Whether there are characters that count as a word each: Han and Hiragana, between which no spaces stand. */
export function hasSingleCharacters(text: string): boolean {
  return SINGLE.test(text);
}

/** A word with each Han and Hiragana character by itself, as the engine's standard tokenizer cuts (UAX #29). */
export function cutSingleCharacters(word: string): string[] {
  return word.match(BY_CHARACTER) ?? [];
}
