import { endsInPair } from './sentences.js';
import { countTokens } from './token-count.js';

/**
 * Halves a text until each piece has at most `limit` tokens: at a line end, else at a space, else between two
 * characters. The pieces put together give the text. Linear but for the logarithm of the pieces' number.
 */
export function* hardCut(text: string, limit: number): Generator<string> {
  // Text of 64 characters a token does not occur outside of blank space: no need to count that much.
  const surelyTooLong = text.length > limit * 64;
  if (text.length < 2 || (!surelyTooLong && countTokens(text.trim()) <= limit)) {
    yield text;
    return;
  }
  const middle = cutNearMiddle(text);
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
