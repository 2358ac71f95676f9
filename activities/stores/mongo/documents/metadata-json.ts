import { parse, stringify } from 'lossless-json';
import type { Metadata, MetadataValue } from '../../../../schemas/documents/documents.js';
import { isObject } from '../../../../schemas/is-object.js';

/**
 * Client metadata is kept as JSON text inside our records: keys with `$` and `.`, and integers beyond a double,
 * survive in text and in nothing else that MongoDB offers.
 */
export function metadataToText(metadata: Metadata): string {
  return stringify(metadata) ?? '{}';
}

export function metadataFromText(text: string): Metadata {
  return parse(text, restoreProtoKey, parseNumber) as Metadata;
}

function parseNumber(literal: string): number | bigint {
  const number = Number(literal);
  return /^-?\d+$/.test(literal) && !Number.isSafeInteger(number) ? BigInt(literal) : number;
}

/** The parser assigns a key `__proto__` as the object's prototype; it is client data and becomes an own key again. */
function restoreProtoKey(_key: string, value: unknown): MetadataValue {
  if (isObject(value)) {
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype !== Object.prototype && prototype !== null)
      return Object.defineProperty({ ...value }, '__proto__', {
        value: prototype,
        enumerable: true,
        writable: true,
        configurable: true,
      }) as MetadataValue;
  }
  return value as MetadataValue;
}
