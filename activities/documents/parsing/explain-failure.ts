import { AppError } from '../../../schemas/app-error.js';
import { ERROR_TABLE } from '../../../schemas/error-table.js';
import type { ParseFailure } from './parser-messages.js';

const KEPT_STACK = 4000;

const TOO_LARGE_SENTENCE =
  'The file is larger, or nests deeper, than its reader can hold; split it into several files.';

/** V8's words for a string, an array or a stack that cannot grow further. */
const TOO_LARGE =
  /^(?:Invalid (?:string|array|typed array|array buffer|Map|Set)|Maximum call stack|Map maximum|Set maximum|Array buffer)/i;

function isTooLarge(error: unknown): boolean {
  return error instanceof RangeError && TOO_LARGE.test(error.message);
}

/** What a reader says of what it threw, in words that can be sent. */
export function explainFailure(error: unknown): ParseFailure {
  if (error instanceof AppError) return { code: error.code, message: error.message, details: error.details };
  const message = error instanceof Error ? error.message : String(error);
  // The machine's trouble (a full disk, say) is not the document's: no code, so that it is tried again.
  if (error instanceof Error && 'syscall' in error) return { code: null, message, details: {} };
  if (isTooLarge(error))
    return { code: 'FILE_TOO_COMPLEX', message: TOO_LARGE_SENTENCE, details: { limit: 'size' } };
  // What a parser knows of a file it says by a code of its own; anything else is a fault of ours.
  return {
    code: 'PARSER_INTERNAL_ERROR',
    message: ERROR_TABLE.PARSER_INTERNAL_ERROR.message,
    details: {},
    trace: error instanceof Error ? (error.stack ?? message).slice(0, KEPT_STACK) : message,
  };
}

/** The error that a failure is for those who asked. */
export function errorOfFailure({ code, message, details, trace }: ParseFailure): Error {
  if (code === null) return new Error(`the parser failed: ${message}`);
  return new AppError(code, message, {
    details,
    ...(trace !== undefined && { cause: new Error(trace) }),
  });
}

/** The error of a document that takes longer than it may. */
export function readTooLong(timeoutMs: number): AppError {
  const message = `Reading the file took longer than ${timeoutMs / 1000} s; split it into several files.`;
  return new AppError('PARSE_TIMEOUT', message, { details: { limit: 'timeout_ms', max: timeoutMs } });
}
