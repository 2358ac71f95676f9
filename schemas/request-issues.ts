import { AppError } from './app-error.js';

/** One fault of a request, in the shape that clients of the document surface know. */
export interface RequestIssue {
  type: string;
  loc: (string | number)[];
  msg: string;
  input?: unknown;
}

/** A 422 that lists its issues; the surface decides how they look. */
export function invalidRequest(issues: readonly RequestIssue[]): AppError {
  return new AppError('VALIDATION_ERROR', undefined, { plain: true, details: { issues } });
}

/** A value that cannot be taken: 400 with the bare text, as the wire contract has it for guards in a route. */
export function badRequest(text: string): AppError {
  return new AppError('BAD_REQUEST', text, { plain: true });
}
