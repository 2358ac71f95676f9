import { CancellationScope } from '@temporalio/workflow';
import type { SendReport } from '../activities/forwarding-activities.js';

/** An offer that ended without a report (the worker died, the store is away) may or may not have reached CAPI. */
export async function reported(offer: () => Promise<SendReport>): Promise<SendReport> {
  try {
    return await offer();
  } catch (error) {
    if (CancellationScope.current().consideredCancelled) throw error;
    const cause = error instanceof Error ? (error.cause ?? error) : error;
    return { outcome: 'unknown', message: cause instanceof Error ? cause.message : String(cause) };
  }
}
