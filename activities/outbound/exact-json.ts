import { isInteger, parse } from 'lossless-json';

function toNumber(digits: string): number | bigint {
  const value = Number(digits);
  return isInteger(digits) && !Number.isSafeInteger(value) ? BigInt(digits) : value;
}

/** JSON with its integers beyond 2^53 as bigints. @throws SyntaxError */
export function parseExact(text: string): unknown {
  return parse(text, null, { parseNumber: toNumber });
}
