import type { Reporter } from './reporter.js';

/** Tells once of steps of an end that failed: mostly all by the same cause, as a disk that is full. */
export function sayFailure(report: Reporter, steps: readonly PromiseSettledResult<unknown>[]): boolean {
  const failed = steps.find((step) => step.status === 'rejected');
  if (failed === undefined) return false;
  const { message } = failed.reason as Error;
  report.say(`  ! what has ended could not all be recorded in .local: ${message}`);
  return true;
}
