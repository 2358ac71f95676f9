import { AppError } from '../../../schemas/app-error.js';
import { invalidRequest } from '../../../schemas/request-issues.js';

/** What a form with one file may hold, and how its faults are told. */

const MEGABYTE = 1024 * 1024;
/** Boundaries, part headers and the text fields, beside the file itself. */
export const UPLOAD_FORM_OVERHEAD = 4 * MEGABYTE;
export const UPLOAD_FORM_LIMITS = {
  fieldNameSize: 100,
  fieldSize: MEGABYTE,
  fields: 20,
  files: 1,
  parts: 21,
  headerPairs: 100,
};

export function tooLarge(maxBytes: number): AppError {
  return new AppError(
    'PAYLOAD_TOO_LARGE',
    `File exceeds the maximum allowed size of ${Math.round(maxBytes / MEGABYTE)} MB.`,
    { plain: true },
  );
}

function isMulterError(error: unknown, code?: string): error is Error & { code: string; field?: string } {
  return (
    error instanceof Error &&
    error.name === 'MulterError' &&
    (code === undefined || (error as Error & { code?: string }).code === code)
  );
}

/** Whether the file part is larger than is allowed. */
export function isTooLarge(error: unknown): boolean {
  return isMulterError(error, 'LIMIT_FILE_SIZE');
}

/** Faults of the form are the client's; a store's own error passes as it is. */
export function formError(error: unknown, clientGone: AbortSignal): Error {
  if (isMulterError(error)) {
    if (error.code === 'LIMIT_UNEXPECTED_FILE' || error.code === 'LIMIT_FILE_COUNT')
      return invalidRequest([
        {
          type: 'unexpected_file',
          loc: ['body', error.field ?? 'file'],
          msg: 'One part `file` is taken',
          input: null,
        },
      ]);
    return new AppError('BAD_REQUEST', `The form cannot be read: ${error.message}`, {
      plain: true,
      cause: error,
    });
  }
  if (error instanceof AppError && !clientGone.aborted) return error;
  const ours = error instanceof Error && 'code' in error && !clientGone.aborted;
  if (ours)
    return new AppError('STORAGE_ERROR', 'Failed to save uploaded file.', { plain: true, cause: error });
  return new AppError('BAD_REQUEST', 'There was an error parsing the body', { plain: true, cause: error });
}
