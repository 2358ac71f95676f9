import { isoTime } from '../../schemas/iso-time.js';
import type {
  FileVersion,
  Metadata,
  MetadataEntry,
  MetadataValue,
} from '../../schemas/documents/documents.js';
import { formatFileSize } from '../text/format-file-size.js';

/** What a filter compares of a long text, in UTF-8; the whole value is in the file record. */
const FILTER_TEXT_MAX_BYTES = 8_191;

function cutToBytes(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes || Buffer.byteLength(text) <= maxBytes) return text;
  // Decoding a cut character gives U+FFFD, at most one, at the end.
  return Buffer.from(text)
    .subarray(0, maxBytes)
    .toString('utf8')
    .replace(/\uFFFD$/, '');
}

/** An entry as the index can hold it: Lucene refuses keyword terms above 32,766 bytes. */
export function toStoredEntry(entry: MetadataEntry): MetadataEntry {
  return entry.text === undefined ? entry : { ...entry, text: cutToBytes(entry.text, FILTER_TEXT_MAX_BYTES) };
}

/**
 * Client metadata as typed entries, so that filters compare numbers as numbers, dates as dates, and the mapping of
 * the index cannot explode. A list gives one entry per member; nested objects use dotted keys.
 */
function toMetadataEntries(metadata: Metadata): MetadataEntry[] {
  return Object.entries(metadata).flatMap(([key, value]) => entriesOf(key, value));
}

/** Before the names of entries that the server makes: no client's key begins so (wire contract, section 1.3). */
const SERVER_PREFIX = '_openrag.';

/** Keys of an answer that chunks carry as entries, beside the client's own. */
const SERVER_ENTRIES = ['original_filename', 'file_size', 'content_sha256', 'indexed_at'] as const;

/** The key of the entries that hold a key of an answer: the client's own stand under their names. */
export function entryKey(name: string): string {
  return (SERVER_ENTRIES as readonly string[]).includes(name) ? `${SERVER_PREFIX}${name}` : name;
}

/**
 * What the chunks of a version carry for filters: the client's metadata, and what the server says of the file. Its size
 * is there as a number, of bytes, and as the text that answers show.
 */
export function toVersionEntries(
  version: Pick<
    FileVersion,
    'metadata' | 'original_filename' | 'size_bytes' | 'content_sha256' | 'indexed_at'
  >,
): MetadataEntry[] {
  const { size_bytes: bytes } = version;
  const said: Record<(typeof SERVER_ENTRIES)[number], MetadataEntry> = {
    original_filename: textEntry(entryKey('original_filename'), version.original_filename),
    file_size: {
      key: entryKey('file_size'),
      text: formatFileSize(bytes),
      number: bytes,
      integer: String(bytes),
    },
    content_sha256: textEntry(entryKey('content_sha256'), version.content_sha256),
    indexed_at: textEntry(entryKey('indexed_at'), version.indexed_at.toISOString()),
  };
  return [...toMetadataEntries(version.metadata), ...Object.values(said)];
}

function entriesOf(key: string, value: MetadataValue): MetadataEntry[] {
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
}

function textEntry(key: string, value: string): MetadataEntry {
  const time = isoTime(value);
  return {
    key,
    text: cutToBytes(value, FILTER_TEXT_MAX_BYTES),
    ...(time === null ? {} : { date: new Date(time).toISOString() }),
  };
}
