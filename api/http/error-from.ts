import { AppError } from '../../schemas/app-error.js';

interface HttpError extends Error {
  status: number;
  expose: boolean;
}

function isHttpError(error: unknown): error is HttpError {
  return (
    error instanceof Error &&
    typeof (error as Partial<HttpError>).status === 'number' &&
    (error as Partial<HttpError>).expose === true
  );
}

/**
 * Any throw as ours. Koa's and its parsers' client errors keep their status; anything else is a 500 without details.
 */
export function errorFrom(error: unknown): AppError {
  if (isHttpError(error) && error.status >= 400 && error.status < 500)
    return new AppError(error.status === 413 ? 'PAYLOAD_TOO_LARGE' : 'BAD_REQUEST', error.message, {
      status: error.status,
      plain: true,
      cause: error,
    });
  return AppError.from(error);
}
