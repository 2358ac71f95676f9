import { isInteger, parse } from 'lossless-json';

/** A number as JSON writes it; an integer beyond 2^53 as a bigint. */
export function exactNumber(digits: string): number | bigint {
  const value = Number(digits);
  return isInteger(digits) && !Number.isSafeInteger(value) ? BigInt(digits) : value;
}

/** JSON with its integers beyond 2^53 as bigints. @throws SyntaxError */
export function parseExact(text: string): unknown {
  return parse(text, null, { parseNumber: exactNumber });
}
