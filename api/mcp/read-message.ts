import type Koa from 'koa';
import { parse } from 'lossless-json';
import { AppError } from '../../schemas/app-error.js';
import { readJsonBody } from '../http/read-json-body.js';

/** Digits that a double may not hold. */
const LONG_NUMBER = /\d{16}/;

function exact(digits: string): number | bigint {
  const value = Number(digits);
  return /^-?\d+$/.test(digits) && !Number.isSafeInteger(value) ? BigInt(digits) : value;
}

/**
 * The message in the body of a request; undefined when there is none that can be read, which is for the transport to
 * answer in its own words. Integers of metadata stay exact.
 * @throws AppError PAYLOAD_TOO_LARGE; SERVICE_UNAVAILABLE when bodies take too much room
 */
export async function readMessage(koa: Koa.Context): Promise<unknown> {
  try {
    const body = await readJsonBody(koa);
    const { rawBody } = koa.request as Koa.Request & { rawBody: string | undefined };
    return rawBody !== undefined && LONG_NUMBER.test(rawBody) ? parse(rawBody, null, exact) : body;
  } catch (error) {
    // A RangeError: nested deeper than the stack.
    const isUnreadable = error instanceof AppError && error.code === 'VALIDATION_ERROR';
    if (isUnreadable || error instanceof RangeError) return undefined;
    throw error;
  }
}
