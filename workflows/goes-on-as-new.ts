import { CancellationScope, workflowInfo } from '@temporalio/workflow';

/**
 * Whether a plan is to go on as a new run, since its history grows. Not while there is a cancel that it still has to
 * obey: a step may end well although it was asked to stop, and the new run would know nothing of the cancel.
 * @param isCancellable whether what comes next obeys a cancel
 */
export function goesOnAsNew(isCancellable = true): boolean {
  if (!workflowInfo().continueAsNewSuggested) return false;
  return !isCancellable || !CancellationScope.current().consideredCancelled;
}
