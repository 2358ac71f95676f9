import type { IncomingMessage } from 'node:http';
import type { DeliveryResult } from '../../ports/capi.js';
import { readStart } from '../../outbound/read-body.js';
import { retryAfterMs } from '../../outbound/retry-after.js';

const BODY_BYTES = 64 * 1024;
const MESSAGE_CHARACTERS = 500;

/** The first 64 KiB of an answer; an answer cut short still counts. Never fails. */
export async function readBody(response: IncomingMessage): Promise<string> {
  // The status and the headers are what decides.
  const body = await readStart(response, BODY_BYTES, { evenIfCut: true });
  return body.toString('utf8');
}

/** An answer other than 2xx: its status, when to come back, and what CAPI said. */
export function refusalOf(
  response: IncomingMessage,
  body: string,
): Extract<DeliveryResult, { outcome: 'rejected' }> {
  return {
    outcome: 'rejected',
    status: response.statusCode ?? 0,
    retryAfterMs: retryAfterMs(response.headers['retry-after'], Date.now()),
    message: messageOf(body) || (response.statusMessage ?? ''),
  };
}

/** CAPI's own `message` (wire contract, 6.2), else the text as it came, in one bounded line. */
function messageOf(body: string): string {
  let text = body;
  try {
    const parsed = JSON.parse(body) as { message?: unknown; error?: unknown } | null;
    const said = parsed?.message ?? parsed?.error;
    if (typeof said === 'string') text = said;
  } catch {
    // Not JSON: a proxy on the way answers in HTML or plain text.
  }
  return text
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, MESSAGE_CHARACTERS);
}
