import { createRequire } from 'node:module';
import type * as Vocabulary from 'gpt-tokenizer/encoding/o200k_base';

const load = createRequire(import.meta.url);
let vocabulary: typeof Vocabulary | undefined;

/** Byte-pair merging is quadratic in the length of a run: 200,000 letters without a space took 23 s. */
const MAX_RUN = 256;
/** `<|endoftext|>` in a user's text is text. */
const OPTIONS = { disallowedSpecial: new Set<string>() };

/** The vocabulary is loaded with the first text: it takes 60 MiB, which a process that counts nothing does not need. */
function countO200k(text: string): number {
  vocabulary ??= load('gpt-tokenizer/encoding/o200k_base') as typeof Vocabulary;
  return vocabulary.countTokens(text, OPTIONS);
}

/** o200k tokens of a text, in linear time; at most a few too many where a run is longer than 256 characters. */
export function countTokens(text: string): number {
  if (text.length <= MAX_RUN) return text === '' ? 0 : countO200k(text);
  let tokens = 0;
  let from = 0;
  let runStart = 0;
  let runIsSpace = false;
  for (let i = 0; i < text.length; i++) {
    const space = isSpace(text.charCodeAt(i));
    if (space !== runIsSpace) {
      runIsSpace = space;
      runStart = i;
    } else if (i - runStart >= MAX_RUN) {
      tokens += countO200k(text.slice(from, i));
      from = runStart = i;
    }
  }
  return tokens + countO200k(text.slice(from));
}

function isSpace(code: number): boolean {
  return code === 32 || (code >= 9 && code <= 13) || code === 0xa0 || code === 0x3000;
}
