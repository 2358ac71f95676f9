import { isoTime } from '../../schemas/iso-time.js';
import type { Metadata, MetadataEntry, MetadataValue } from '../../schemas/documents.js';

/** What a filter compares of a long text, in UTF-8; the whole value is in the file record. */
const FILTER_TEXT_MAX_BYTES = 8_191;

const cutToBytes = (text: string, maxBytes: number): string => {
  if (text.length * 3 <= maxBytes || Buffer.byteLength(text) <= maxBytes) return text;
  // Decoding a cut character gives U+FFFD, at most one, at the end.
  return Buffer.from(text)
    .subarray(0, maxBytes)
    .toString('utf8')
    .replace(/\uFFFD$/, '');
};

/** An entry as the index can hold it: Lucene refuses keyword terms above 32,766 bytes. */
export const toStoredEntry = (entry: MetadataEntry): MetadataEntry =>
  entry.text === undefined ? entry : { ...entry, text: cutToBytes(entry.text, FILTER_TEXT_MAX_BYTES) };

/**
 * Client metadata as typed entries, so that filters compare numbers as numbers, dates as dates, and the mapping of
 * the index cannot explode. A list gives one entry per member; nested objects use dotted keys.
 */
export const toMetadataEntries = (metadata: Metadata): MetadataEntry[] =>
  Object.entries(metadata).flatMap(([key, value]) => entriesOf(key, value));

const entriesOf = (key: string, value: MetadataValue): MetadataEntry[] => {
  if (value === null) return [];
  if (Array.isArray(value)) return value.flatMap((member) => entriesOf(key, member));
  switch (typeof value) {
    case 'string':
      return [textEntry(key, value)];
    case 'number':
      return [{ key, number: value, ...(Number.isSafeInteger(value) ? { integer: String(value) } : {}) }];
    case 'bigint':
      return [{ key, number: Number(value), integer: String(value) }];
    case 'boolean':
      return [{ key, bool: value }];
    default:
      return Object.entries(value).flatMap(([inner, member]) => entriesOf(`${key}.${inner}`, member));
  }
};

const textEntry = (key: string, value: string): MetadataEntry => {
  const time = isoTime(value);
  return {
    key,
    text: cutToBytes(value, FILTER_TEXT_MAX_BYTES),
    ...(time === null ? {} : { date: new Date(time).toISOString() }),
  };
};
