import { parse } from 'lossless-json';
import { AppError } from '../../../schemas/app-error.js';
import type { Metadata, MetadataValue } from '../../../schemas/documents/documents.js';
import { MAX_METADATA_BYTES } from '../../../schemas/documents/documents-api.js';
import { MAX_TIME, MIN_TIME, isoTime } from '../../../schemas/iso-time.js';
import { fitsInt64 } from '../../text/exact-json.js';
import { requireMetadataSize } from './metadata-size.js';
import { badRequest } from '../../../schemas/request-issues.js';

/** Keys that the server sets: a client may send them (some do on purpose), and they are dropped. */
const PROTECTED_KEYS: ReadonlySet<string> = new Set([
  'file_id',
  'source',
  'created_by',
  'file_size',
  'file_count',
  '_id',
  'vector',
  'text',
  'content_sha256',
  'indexed_at',
  'degraded_stages',
]);
const PROTECTED_PREFIX = '_openrag';

/** MongoDB nests at most 100 levels, and our own records take a few. */
const MAX_DEPTH = 64;
const MAX_KEY_LENGTH = 256;

export interface ClientMetadata {
  metadata: Metadata;
  relationshipId: string | null;
  parentId: string | null;
  /** `metadata.mimetype`, which chooses the parser where the file's extension is missing or unknown. */
  mimetype: string | null;
}

/**
 * The `metadata` form field: a JSON object, absent or empty meaning `{}`. Integers stay exact within 64 bits.
 * @param vectorFields names of the chunk fields that hold vectors; no client may set them
 * @throws AppError BAD_REQUEST (400), plain
 */
export function readClientMetadata(
  text: string | undefined,
  vectorFields: readonly string[],
): ClientMetadata {
  if (text !== undefined && Buffer.byteLength(text) > MAX_METADATA_BYTES)
    throw badRequest(`metadata may take ${MAX_METADATA_BYTES} bytes`);
  const value = text === undefined || text.trim() === '' ? {} : parseJson(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw badRequest('metadata must be a JSON object');
  const metadata = Object.fromEntries(
    Object.entries(value).filter(
      ([key]) => !PROTECTED_KEYS.has(key) && !key.startsWith(PROTECTED_PREFIX) && !vectorFields.includes(key),
    ),
  );
  if (metadata['created_at'] !== undefined && metadata['created_at'] !== null) {
    const date = isoDate(metadata['created_at']);
    if (date === null) throw badRequest('metadata.created_at is not a date');
    metadata['created_at'] = date;
  }
  requireMetadataSize(metadata);
  return {
    metadata,
    relationshipId: textOf(metadata, 'relationship_id'),
    parentId: textOf(metadata, 'parent_id'),
    mimetype: typeof metadata['mimetype'] === 'string' ? metadata['mimetype'] : null,
  };
}

function parseJson(text: string): MetadataValue {
  let parsed: unknown;
  try {
    parsed = parse(text, null, { parseNumber, onDuplicateKey: ({ newValue }) => newValue });
  } catch (error) {
    if (error instanceof AppError) throw error;
    // RangeError too: nested deeper than the stack.
    throw new AppError('BAD_REQUEST', 'metadata is not valid JSON', { plain: true, cause: error });
  }
  return rebuild(parsed, 0);
}

function isWhole(text: string): boolean {
  return !/\p{Surrogate}/u.test(text);
}

function parseNumber(digits: string): number | bigint {
  if (/^-?\d+$/.test(digits)) {
    const integer = BigInt(digits);
    if (!fitsInt64(integer)) throw badRequest('metadata holds an integer beyond 64 bits');
    return Number.isSafeInteger(Number(integer)) ? Number(integer) : integer;
  }
  const value = Number(digits);
  if (!Number.isFinite(value)) throw badRequest('metadata holds a number that is too large');
  return value;
}

/** Own keys only, bounded depth, no key that a store cannot hold. */
function rebuild(value: unknown, depth: number): MetadataValue {
  if (depth > MAX_DEPTH) throw badRequest(`metadata is nested deeper than ${MAX_DEPTH} levels`);
  if (Array.isArray(value)) return value.map((member) => rebuild(member, depth + 1));
  if (typeof value === 'string' && !isWhole(value))
    throw badRequest('metadata holds half of a character (a lone surrogate)');
  if (typeof value !== 'object' || value === null) return value as MetadataValue;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => {
      if (key.includes('\0') || key.length > MAX_KEY_LENGTH || !isWhole(key))
        throw badRequest('metadata has a key that cannot be stored');
      return [key, rebuild(member, depth + 1)];
    }),
  );
}

function textOf(metadata: Metadata, key: string): string | null {
  const value = metadata[key];
  if (value === undefined || value === null || value === '') return null;
  if (typeof value !== 'string') throw badRequest(`metadata.${key} must be a string`);
  return value;
}

const RFC_5322 =
  /^(?:[A-Za-z]{3},\s*)?\d{1,2} [A-Za-z]{3} \d{4} \d{2}:\d{2}(?::\d{2})? (?:GMT|UTC|Z|[+-]\d{4})$/;

/** Seconds below this, milliseconds above: 10^11 s is the year 5138, 10^11 ms is 1973. */
const MAX_SECONDS = 1e11;

/**
 * A date as clients send it (ISO 8601, a mail header's form, epoch seconds or milliseconds) in ISO 8601, UTC.
 * A date without a zone is taken as UTC, so that it reads alike on every machine. Null when it is none, or has no year
 * of four digits, which filters and searches by date read.
 */
export function isoDate(value: unknown): string | null {
  const time =
    typeof value === 'number' ? epoch(value) : typeof value === 'string' ? parsed(value.trim()) : NaN;
  return time >= MIN_TIME && time <= MAX_TIME ? new Date(time).toISOString() : null;
}

function epoch(value: number): number {
  return Math.abs(value) < MAX_SECONDS ? value * 1000 : value;
}

function parsed(text: string): number {
  return isoTime(text) ?? (RFC_5322.test(text) ? Date.parse(text) : NaN);
}
