import type { AppError } from '../../schemas/app-error.js';
import { losslessBody } from './json.js';

/** One server-sent event without a name, of what is JSON already. */
export function textEvent(json: string): string {
  return `data: ${json}\n\n`;
}

/** One server-sent event without a name. */
export function dataEvent(data: unknown): string {
  return textEvent(losslessBody(data));
}

/** The end of a stream that a client can tell from one that was cut off. */
export const DONE_EVENT = 'data: [DONE]\n\n';

/** What fails once a stream has begun, when its status is on its way already (wire contract, section 1.1). */
export function errorEvent({ code, message }: AppError): string {
  return dataEvent({ error: { message, type: 'error', param: null, code } });
}
