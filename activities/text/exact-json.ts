import { isInteger, parse } from 'lossless-json';

/** A number as JSON writes it; an integer beyond 2^53 as a bigint. */
export function exactNumber(digits: string): number | bigint {
  const value = Number(digits);
  return isInteger(digits) && !Number.isSafeInteger(value) ? BigInt(digits) : value;
}

/** What stores and filters compare as an integer. */
export function fitsInt64(integer: bigint): boolean {
  return BigInt.asIntN(64, integer) === integer;
}

/** JSON with its integers beyond 2^53 as bigints. @throws SyntaxError */
export function parseExact(text: string): unknown {
  return parse(text, null, { parseNumber: exactNumber });
}
