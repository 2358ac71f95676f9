import { parse, stringify } from 'lossless-json';
import type { Metadata, MetadataValue } from '../../../../schemas/documents/documents.js';
import { isObject } from '../../../../schemas/is-object.js';
import { exactNumber } from '../../../text/exact-json.js';

/**
 * Client metadata is kept as JSON text inside our records: keys with `$` and `.`, and integers beyond a double,
 * survive in text and in nothing else that MongoDB offers.
 */
export function metadataToText(metadata: Metadata): string {
  return stringify(metadata) ?? '{}';
}

export function metadataFromText(text: string): Metadata {
  return parse(text, restoreProtoKey, exactNumber) as Metadata;
}

/** The text of a record's metadata, until it is asked for. */
const METADATA_TEXT = Symbol('metadata as text');

/** One function for all records: with one each, each would have a shape of its own, which takes more than the rest. */
const METADATA: PropertyDescriptor & ThisType<{ [METADATA_TEXT]: string }> = {
  enumerable: true,
  configurable: true,
  get() {
    const value = metadataFromText(this[METADATA_TEXT]);
    Object.defineProperty(this, 'metadata', { value, enumerable: true, configurable: true, writable: true });
    return value;
  },
};

/** Gives a record metadata that are made of their text where they are asked for: 64 KiB take milliseconds. */
export function withMetadata<T extends object>(record: T, text: string): T & { metadata: Metadata } {
  Object.defineProperty(record, METADATA_TEXT, { value: text });
  return Object.defineProperty(record, 'metadata', METADATA) as T & { metadata: Metadata };
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
