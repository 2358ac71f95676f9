import { setImmediate } from 'node:timers/promises';
import { countTokens } from './token-count.js';

/** Characters counted at once: some 30 ms of the slowest texts. */
const SLICE = 8 * 1024;
/** A slice ends at white space where there is some so near its end, so that no word is cut. */
const NEAR = 512;
/** The longest token is of so many blanks; of any other sign they are shorter. */
const LONGEST_TOKEN = 128;

/** At least so many tokens a text of this length has. */
export const leastTokens = (length: number): number => Math.ceil(length / LONGEST_TOKEN);

const sliceEnd = (text: string, from: number): number => {
  const end = from + SLICE;
  if (end >= text.length) return text.length;
  const space = text.lastIndexOf(' ', end);
  if (space > end - NEAR) return space;
  const code = text.charCodeAt(end - 1);
  return code >= 0xd800 && code < 0xdc00 ? end - 1 : end;
};

/**
 * Tokens of a text, counted slice by slice with other requests served in between. No further than `most`: what comes
 * back is more than that as soon as the text has more.
 * @throws the signal's reason
 */
export const countInSlices = async (text: string, most = Infinity, signal?: AbortSignal): Promise<number> => {
  if (leastTokens(text.length) > most) return leastTokens(text.length);
  let tokens = 0;
  for (let from = 0; from < text.length && tokens <= most;) {
    const end = sliceEnd(text, from);
    tokens += countTokens(text.slice(from, end));
    from = end;
    if (from < text.length) await setImmediate();
    signal?.throwIfAborted();
  }
  return tokens;
};
