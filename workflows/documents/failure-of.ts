import { ActivityFailure, ApplicationFailure, CancelledFailure, isCancellation } from '@temporalio/workflow';
import type { TaskFailure } from '../../schemas/documents/tasks.js';
import { ERROR_TABLE, isErrorCode } from '../../schemas/error-table.js';
import type { ErrorCode } from '../../schemas/error-table.js';

/** A code of the error table, or whatever an activity threw, as the failure that a task record keeps. */
export function failureOf(error: unknown): TaskFailure {
  if (typeof error === 'string' && isErrorCode(error)) return plain(error);
  if (isCancellation(error)) return plain('TASK_CANCELLED');
  const cause = error instanceof ActivityFailure ? error.cause : error;
  if (cause instanceof ApplicationFailure) {
    const code = cause.type != null && isErrorCode(cause.type) ? cause.type : 'UNEXPECTED_ERROR';
    return { code, message: cause.message, traceback: (cause.stack ?? '').split('\n') };
  }
  // An activity that ran out of its total time, on an engine that never came back.
  return { ...plain('TASK_EXPIRED'), traceback: [String(cause)] };
}

function plain(code: ErrorCode): TaskFailure {
  return {
    code,
    message: ERROR_TABLE[code].message,
    traceback: [],
  };
}

/**
 * How the workflow itself ends, so that the status in Temporal's UI is right: Canceled, or Failed with the code.
 */
export function rethrown(error: unknown, failure: TaskFailure): Error {
  if (failure.code === 'TASK_CANCELLED' || failure.code === 'SUPERSEDED')
    return new CancelledFailure(failure.message);
  return ApplicationFailure.create({
    type: failure.code,
    message: failure.message,
    nonRetryable: true,
    ...(error instanceof Error ? { cause: error } : {}),
  });
}
