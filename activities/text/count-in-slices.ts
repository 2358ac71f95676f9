import { countTokens } from './token-count.js';
import { createLoopBudget } from './loop-budget.js';

/** Characters counted in one turn of the event loop: some 15 ms of the slowest texts. */
const SLICE = 4 * 1024;
/** A slice ends at white space where there is some so near its end, so that no word is cut. */
const NEAR = 512;
/** The longest token is of so many blanks; of any other sign they are shorter. */
const MAX_TOKEN_CHARACTERS = 128;

/** At least so many tokens a text of this length has. */
export function leastTokens(length: number): number {
  return Math.ceil(length / MAX_TOKEN_CHARACTERS);
}

function sliceEnd(text: string, from: number): number {
  const end = from + SLICE;
  if (end >= text.length) return text.length;
  const space = text.lastIndexOf(' ', end);
  if (space > end - NEAR) return space;
  const code = text.charCodeAt(end - 1);
  return code >= 0xd800 && code < 0xdc00 ? end - 1 : end;
}

const room = createLoopBudget(SLICE);

async function countSlice(text: string, signal?: AbortSignal): Promise<number> {
  await room(text.length);
  signal?.throwIfAborted();
  return countTokens(text);
}

/**
 * Tokens of a text, counted slice by slice with other requests served in between. No further than `most`: what comes
 * back is more than that as soon as the text has more.
 * @throws the signal's reason
 */
export async function countInSlices(text: string, most = Infinity, signal?: AbortSignal): Promise<number> {
  if (leastTokens(text.length) > most) return leastTokens(text.length);
  let tokens = 0;
  for (let from = 0; from < text.length && tokens <= most;) {
    const end = sliceEnd(text, from);
    tokens += await countSlice(text.slice(from, end), signal);
    from = end;
  }
  return tokens;
}

/**
 * How much of a text, from its start, stays within so many tokens, counted likewise.
 * @throws the signal's reason
 */
export async function lengthWithin(text: string, tokens: number, signal?: AbortSignal): Promise<number> {
  let left = tokens;
  let from = 0;
  while (from < text.length) {
    const end = sliceEnd(text, from);
    const taken = await countSlice(text.slice(from, end), signal);
    if (taken > left) return from + (await lengthInSlice(text.slice(from, end), left, signal));
    left -= taken;
    from = end;
  }
  return from;
}

async function lengthInSlice(slice: string, tokens: number, signal?: AbortSignal): Promise<number> {
  let low = 0;
  let high = slice.length;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((await countSlice(slice.slice(0, middle), signal)) <= tokens) low = middle;
    else high = middle - 1;
  }
  return low;
}
