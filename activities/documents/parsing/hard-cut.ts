import { endsInPair } from '../../text/sentences.js';
import { countTokens } from '../../text/token-count.js';

/** Characters: text of more than this a token does not occur outside of blank space, so it need not be counted. */
const MAX_TOKEN_LENGTH = 64;

/**
 * Without the white space around it, which is not kept: a word may take more tokens without the space before
 * it. A token is at least one byte, and a UTF-16 unit at most three: short texts need no count to know.
 */
export function fits(text: string, limit: number): boolean {
  if (text.length * 3 <= limit) return true;
  return text.length <= limit * MAX_TOKEN_LENGTH && countTokens(text.trim()) <= limit;
}

/**
 * Halves a text until each fragment has at most `limit` tokens: at a line end, else at a space, else between two
 * characters. The fragments put together give the text. Linear but for the logarithm of the fragments' number.
 */
export function* hardCut(text: string, limit: number): Generator<string> {
  if (text.length < 2 || fits(text, limit)) {
    yield text;
    return;
  }
  const middle = cutNearMiddle(text);
  if (middle === text.length) {
    // One character, which is more tokens than asked for.
    yield text;
    return;
  }
  yield* hardCut(text.slice(0, middle), limit);
  yield* hardCut(text.slice(middle), limit);
}

function cutNearMiddle(text: string): number {
  const half = text.length >> 1;
  const from = text.length >> 2;
  for (const sign of ['\n', ' ']) {
    const at = text.slice(from, half).lastIndexOf(sign);
    if (at >= 0) return from + at + 1;
  }
  return endsInPair(text, half) ? half + 1 : half;
}
