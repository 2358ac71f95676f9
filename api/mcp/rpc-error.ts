import type { AppError } from '../../schemas/app-error.js';
import { errorFrom } from '../http/error-from.js';
import type { CallerContext } from '../http/route.js';
import { surfaceOf } from '../http/surfaces.js';

/** Codes of JSON-RPC 2.0, and the protocol's own for a resource that is not there. */
export const INVALID_REQUEST = -32600;
export const INVALID_PARAMS = -32602;
export const INTERNAL_ERROR = -32603;
export const RESOURCE_NOT_FOUND = -32002;

/** What the SDK answers as an error of the protocol. */
export function rpcError(code: number, message: string): Error & { code: number } {
  return Object.assign(new Error(message), { code });
}

/** Who is it, may they: the reason of these stands in the line of the request. */
const REFUSALS: ReadonlySet<number> = new Set([401, 403]);

/** Any throw as ours; what is our fault is logged with its cause, as the middleware does for other routes. */
export function noted({ log, koa }: CallerContext, thrown: unknown): AppError {
  const error = errorFrom(thrown);
  if (koa.res.destroyed) log.debug({ code: error.code }, 'the client left');
  else if (error.status >= 500) log.error({ err: error, code: error.code }, 'a call of an agent failed');
  else log.debug({ code: error.code, detail: error.message }, 'a call of an agent was refused');
  if (REFUSALS.has(error.status)) koa.state['refusal'] = error.message;
  return error;
}

/** What the routes of documents would answer: status and body. */
export function asDocumentError({ koa, requestId }: CallerContext, error: AppError) {
  const { status, body } = surfaceOf(koa.path).renderError(error, requestId);
  return { status, ...(body as object) };
}

/** The text that such an answer would have. */
export function textOf(error: AppError): string {
  return error.plain ? error.message : `[${error.code}]: ${error.message}`;
}
