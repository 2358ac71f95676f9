import type { AppError } from '../../schemas/app-error.js';
import { losslessBody } from './json.js';

/** One server-sent event without a name. */
export const dataEvent = (data: unknown): string => `data: ${losslessBody(data)}\n\n`;

/** The end of a stream that a client can tell from one that was cut off. */
export const DONE_EVENT = 'data: [DONE]\n\n';

/** What fails once a stream has begun, when its status is on its way already (wire contract, section 1.1). */
export const errorEvent = ({ code, message }: AppError): string =>
  dataEvent({ error: { message, type: 'error', param: null, code } });
