import { AppError } from '../../../schemas/app-error.js';
import { scanJsonArray } from './scan-json-array.js';

/** Proxy spec, section 8.3; real signals are some 400 bytes long and four levels deep. */
const SIGNAL_LIMITS = {
  /** Items of a batch; more are refused. */
  maxItems: 1_000,
  /** Bytes of an item; a larger one is quarantined. */
  maxItemBytes: 1024 * 1024,
  /** Containers inside containers; an item that goes deeper is quarantined. */
  maxDepth: 64,
};

/** One item of a batch. */
export interface SignalItem {
  /** Its own part of the body, byte for byte. */
  raw: string;
  /** UTF-8 length of `raw`. */
  bytes: number;
  /** What it says; undefined when a limit kept it from being read. */
  value: unknown;
  /** Which limit it breaks, if one. */
  problem: { kind: 'too-large' | 'too-deep'; message: string } | null;
}

const BYTE_ORDER_MARK = '\uFEFF';

function readItem(raw: string, depth: number): SignalItem {
  const bytes = Buffer.byteLength(raw);
  const unread = (kind: 'too-large' | 'too-deep', message: string): SignalItem => ({
    raw,
    bytes,
    value: undefined,
    problem: { kind, message },
  });
  if (bytes > SIGNAL_LIMITS.maxItemBytes)
    return unread('too-large', `the item has ${bytes} bytes, more than ${SIGNAL_LIMITS.maxItemBytes}`);
  if (depth > SIGNAL_LIMITS.maxDepth)
    return unread('too-deep', `the item is nested ${depth} levels deep, more than ${SIGNAL_LIMITS.maxDepth}`);
  return { raw, bytes, value: JSON.parse(raw), problem: null };
}

/**
 * Splits the decoded body of `POST /v2/signals` or `/v3/signals` into its items. The items are not validated here; an
 * item that breaks a limit is answered with its problem, so that the rest of the batch is taken all the same.
 * @throws AppError BAD_REQUEST or PAYLOAD_TOO_LARGE with the texts of proxy spec, table 1.1
 */
export function readSignals(text: string): { items: SignalItem[] } {
  const body = text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
  if (body === '')
    throw new AppError('BAD_REQUEST', "Body cannot be empty when content-type is set to 'application/json'");
  const scanned = scanJsonArray(body, SIGNAL_LIMITS.maxItems);
  if (scanned === 'not-json')
    throw new AppError('BAD_REQUEST', "Body is not valid JSON but content-type is set to 'application/json'");
  if (scanned === 'not-an-array') throw new AppError('BAD_REQUEST', 'Invalid request body: expected array');
  if (scanned.length > SIGNAL_LIMITS.maxItems)
    throw new AppError(
      'PAYLOAD_TOO_LARGE',
      `Batch too large: maximum ${SIGNAL_LIMITS.maxItems} alerts per request`,
    );
  return { items: scanned.map(({ start, end, depth }) => readItem(body.slice(start, end), depth)) };
}
