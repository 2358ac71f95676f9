import { ActivityFailure, ApplicationFailure } from '@temporalio/workflow';

/** What an activity threw, or whatever else ended a workflow, as a record keeps it. */
export function causeOf(error: unknown): { code: string; message: string } {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  if (cause instanceof ApplicationFailure)
    return { code: cause.type ?? 'UNEXPECTED_ERROR', message: cause.message };
  return { code: 'UNEXPECTED_ERROR', message: String(cause) };
}
