import { ActivityCancellationType } from '@temporalio/workflow';
import type { ActivityOptions, LocalActivityOptions } from '@temporalio/workflow';

/**
 * The named activity profiles. The worker's heartbeat interceptor beats for every activity, so a worker that dies
 * is noticed within `heartbeatTimeout` and not only when `startToCloseTimeout` has passed. We give up by error
 * type or by total time, never by a number of tries: an engine that is away for an hour costs an hour. The total
 * time is one for all steps of a task, so it is a timer of the plan and not a `scheduleToCloseTimeout` of each step.
 *
 * A cancelled activity is waited for: clean-up must not run while a writer still writes.
 */
const base = {
  heartbeatTimeout: '10 seconds',
  retry: { initialInterval: '250 milliseconds', backoffCoefficient: 2, maximumInterval: '30 seconds' },
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
} as const satisfies ActivityOptions;

/** A few record changes. */
export const quick = { ...base, startToCloseTimeout: '2 minutes' } as const satisfies ActivityOptions;

/** Calls to a model, over a whole document. */
export const model = { ...base, startToCloseTimeout: '12 hours' } as const satisfies ActivityOptions;

/** Work on all bytes of a document. The parser's own time limit (PARSE_TIMEOUT) is shorter. */
export const bulk = { ...base, startToCloseTimeout: '4 hours' } as const satisfies ActivityOptions;

/**
 * A small text from its first byte to the search, within the task of its plan: once, since a step of its own goes on
 * for as long as it takes. There are no heartbeats: a worker that dies is noticed when the plan's task runs out (10 s),
 * and a cancel reaches it at the next extension of that task (8 s).
 */
export const atOnce = {
  startToCloseTimeout: '1 minute',
  retry: { maximumAttempts: 1 },
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
} as const satisfies LocalActivityOptions;

/**
 * One call to a service outside that must not be made twice by accident: it is tried once, and the plan decides by
 * what came of it. The client's own time-out (PROXY_TIMEOUT_MS) is shorter. The heartbeat time-out is longer than the
 * time for which `sendBatches` offers (`SENDING_MS`): a worker that is taken for dead has stopped.
 */
export const external = {
  ...base,
  startToCloseTimeout: '15 minutes',
  retry: { maximumAttempts: 1 },
} as const satisfies ActivityOptions;

/** One message to a client's address that may be down for hours; sending it twice does no harm. */
export const persistent = {
  ...base,
  startToCloseTimeout: '1 minute',
  scheduleToCloseTimeout: '24 hours',
  retry: { initialInterval: '5 seconds', backoffCoefficient: 2, maximumInterval: '15 minutes' },
} as const satisfies ActivityOptions;
