import type { Metadata, MetadataEntry, MetadataValue } from '../../schemas/documents.js';

/** ISO 8601 with a date at least; other texts that `Date` would guess at stay texts. */
const ISO_DATE = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?$/;

/** Lucene refuses keyword terms above 32,766 bytes; a longer text is still stored, found by its beginning. */
const MAX_TERM_CHARACTERS = 8000;

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
  const time = ISO_DATE.test(value) ? Date.parse(value) : NaN;
  return {
    key,
    text: value.slice(0, MAX_TERM_CHARACTERS),
    ...(Number.isNaN(time) ? {} : { date: new Date(time).toISOString() }),
  };
};
