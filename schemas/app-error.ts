import { ERROR_TABLE } from './error-table.js';
import type { ErrorCode } from './error-table.js';

export interface AppErrorOptions {
  cause?: unknown;
  /** Facts for the client, answered under `extra`; nothing secret. */
  details?: Record<string, unknown>;
  /** A status other than the table's, where the contract asks for one (413 and 415 of VALIDATION_ERROR). */
  status?: number;
  /**
   * A plain error is one that a route's guard raises: the contract answers it as `{"detail": "<text>"}`
   * without the code in brackets.
   */
  plain?: boolean;
  /** Wait at least so long before the next try, in milliseconds (a provider's Retry-After). */
  retryAfterMs?: number;
}

/** The only error class of the house. Status and retryability come from the error table. */
export class AppError extends Error {
  override readonly name = 'AppError';
  readonly code: ErrorCode;
  readonly status: number;
  readonly details: Record<string, unknown>;
  readonly plain: boolean;
  readonly retryAfterMs: number | undefined;

  constructor(code: ErrorCode, message?: string, options: AppErrorOptions = {}) {
    super(
      message ?? ERROR_TABLE[code].message,
      options.cause === undefined ? undefined : { cause: options.cause },
    );
    this.code = code;
    this.status = options.status ?? ERROR_TABLE[code].status;
    this.details = options.details ?? {};
    this.plain = options.plain ?? false;
    this.retryAfterMs = options.retryAfterMs;
  }

  get retryable(): boolean {
    return ERROR_TABLE[this.code].retryable;
  }

  /** Any throw becomes one of ours; what is unknown becomes UNEXPECTED_ERROR with its cause kept for the log. */
  static from(error: unknown, fallback: ErrorCode = 'UNEXPECTED_ERROR'): AppError {
    if (error instanceof AppError) return error;
    return new AppError(fallback, undefined, { cause: error });
  }
}
