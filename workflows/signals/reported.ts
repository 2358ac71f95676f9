import { CancellationScope, TimeoutFailure } from '@temporalio/workflow';
import type { SendProgress, SendReport, SeveralReport } from '../../activities/signals/signal-delivery.js';

/** An offer that ended without a report (the worker died, the store is away) may or may not have reached CAPI. */
export async function reported(offer: () => Promise<SendReport>): Promise<SendReport> {
  try {
    return await offer();
  } catch (error) {
    return unknown(causeOf(error));
  }
}

/**
 * Likewise for several batches. What the last heartbeat said is over is over; the rest is offered again, and what the
 * heartbeat did not get to say is marked in the store and left out there.
 */
export async function reportedSeveral(offer: () => Promise<SeveralReport>): Promise<SeveralReport> {
  try {
    return await offer();
  } catch (error) {
    const cause = causeOf(error);
    const { done, forwarded } = progressOf(cause);
    return { done, forwarded, unmarked: [], report: unknown(cause), restMs: 0 };
  }
}

function causeOf(error: unknown): unknown {
  if (CancellationScope.current().consideredCancelled) throw error;
  return error instanceof Error ? (error.cause ?? error) : error;
}

function unknown(cause: unknown): Extract<SendReport, { outcome: 'unknown' }> {
  return { outcome: 'unknown', message: cause instanceof Error ? cause.message : String(cause) };
}

function progressOf(cause: unknown): SendProgress {
  const details = cause instanceof TimeoutFailure ? cause.lastHeartbeatDetails : undefined;
  return (details as SendProgress | null | undefined) ?? { done: 0, forwarded: 0 };
}
