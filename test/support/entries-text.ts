import type { MetadataEntry } from '../../schemas/documents/documents.js';

/** Entries in one order and form, to be compared. */
export function entriesText(entries: readonly MetadataEntry[]): string {
  return entries
    .map((entry) => JSON.stringify(Object.entries(entry).sort(([one], [other]) => (one < other ? -1 : 1))))
    .sort()
    .join(' ');
}
