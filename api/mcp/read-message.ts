import type Koa from 'koa';
import { parse } from 'lossless-json';
import { AppError } from '../../schemas/app-error.js';
import { readJsonBody } from '../http/read-json-body.js';

/**
 * Of a message that holds a long number: to read it exactly takes a hundred times as long as JSON.parse. Far more than
 * texts of 16,000 characters and metadata of 64 KiB take.
 */
const MAX_EXACT = 512 * 1024;

/** Digits that a double may not hold. */
const LONG_NUMBER = /\d{16}/;

/** 64 bits take 20; to read an integer takes time by the square of its length. */
const MAX_DIGITS = 100;

function exact(digits: string): number | bigint {
  const value = Number(digits);
  if (Number.isSafeInteger(value) || !/^-?\d+$/.test(digits)) return value;
  if (digits.length > MAX_DIGITS) throw new RangeError('an integer of too many digits');
  return BigInt(digits);
}

/** Of keys given twice the last one counts, as for JSON.parse. */
const LENIENT = { parseNumber: exact, onDuplicateKey: ({ newValue }: { newValue: unknown }) => newValue };

/**
 * The message in the body of a request; undefined when there is none that can be read, which is for the transport to
 * answer in its own words. Integers of metadata stay exact.
 * @throws AppError PAYLOAD_TOO_LARGE; SERVICE_UNAVAILABLE when bodies take too much room
 */
export async function readMessage(koa: Koa.Context): Promise<unknown> {
  try {
    const body = await readJsonBody(koa);
    const { rawBody } = koa.request as Koa.Request & { rawBody: string | undefined };
    if (rawBody === undefined || !LONG_NUMBER.test(rawBody)) return body;
    if (rawBody.length > MAX_EXACT) throw new AppError('PAYLOAD_TOO_LARGE', undefined, { plain: true });
    return parse(rawBody, null, LENIENT);
  } catch (error) {
    // A RangeError: nested deeper than the stack, or a number that is too long.
    const isUnreadable = error instanceof AppError && error.code === 'VALIDATION_ERROR';
    if (isUnreadable || error instanceof RangeError) return undefined;
    throw error;
  }
}
