import type { Context } from '@temporalio/activity';
import { ApplicationFailure, CancelledFailure, defaultPayloadConverter } from '@temporalio/common';
import type { Headers } from '@temporalio/common';
import type { ActivityInterceptors } from '@temporalio/worker';
import type { Tracer } from '../activities/ports/tracer.js';
import { inRequest, inSpan } from '../activities/request-scope.js';
import { AppError } from '../schemas/app-error.js';
import type { ErrorCode } from '../schemas/error-table.js';
import { REQUEST_ID_HEADER, TRACE_HEADER } from '../schemas/ids.js';

const BEAT_EVERY_MS = 2000;

/** Names only: what an activity was given and answers may hold anything. */
interface ActivityNote {
  activity: string;
  attempt: number;
  /** Of the request that started its workflow. */
  request_id?: string;
}

/**
 * Around every activity, in the worker only:
 * - a heartbeat every two seconds, with the activity's last cursor, so that a worker that dies is noticed within the
 *   heartbeat time-out and a cancel reaches the activity while it waits for something; a local activity has none;
 * - the id of the request that caused it, for the lines that it leads to;
 * - a span below the one that started its workflow, where traces are wanted;
 * - any throw becomes an `ApplicationFailure` whose type is a code of the error table.
 */
export function createActivityInterceptors(
  onFailure: (failure: ActivityNote & { error: unknown }) => void,
  onDone: (done: ActivityNote & { ms: number }) => void,
  tracer: Tracer | null,
) {
  return (context: Context): ActivityInterceptors => ({
    inbound: {
      async execute(input, next) {
        const stop = context.info.isLocal ? () => undefined : beat(context);
        const requestId = textIn(input.headers, REQUEST_ID_HEADER);
        const note: ActivityNote = {
          activity: context.info.activityType,
          attempt: context.info.attempt,
          ...(requestId === undefined ? {} : { request_id: requestId }),
        };
        const started = performance.now();
        try {
          const inItsRequest = () =>
            requestId === undefined ? next(input) : inRequest(requestId, () => next(input));
          const result = await (tracer === null
            ? inItsRequest()
            : traced(tracer, context, textIn(input.headers, TRACE_HEADER), inItsRequest));
          onDone({ ...note, ms: Math.round(performance.now() - started) });
          return result;
        } catch (error) {
          if (isCancellation(context, error))
            throw error instanceof CancelledFailure ? error : new CancelledFailure('cancelled');
          if (error instanceof ApplicationFailure) throw error;
          onFailure({ ...note, error });
          throw toApplicationFailure(error, context.info.attempt);
        } finally {
          stop();
        }
      },
    },
  });
}

function textIn(headers: Headers, name: string): string | undefined {
  const payload = headers[name];
  return payload === undefined ? undefined : defaultPayloadConverter.fromPayload<string>(payload);
}

/** Upkeep begins traces of its own. Ids of workflows are left out: they may hold names. */
async function traced<T>(
  tracer: Tracer,
  context: Context,
  parent: string | undefined,
  work: () => Promise<T>,
): Promise<T> {
  const { info } = context;
  const span = tracer.begin(`RunActivity:${info.activityType}`, 'consumer', parent);
  const facts = {
    'temporal.workflow.type': info.workflowType ?? '',
    'temporal.run.id': info.workflowExecution?.runId ?? '',
    'temporal.attempt': info.attempt,
  };
  try {
    const result = await inSpan(span.traceparent, work);
    span.end({ facts });
    return result;
  } catch (error) {
    span.end({ facts, failed: !isCancellation(context, error) });
    throw error;
  }
}

/** Keeps the last details: a beat without them would erase the cursor that a retry needs. */
function beat(context: Context): () => void {
  let details: unknown = context.info.heartbeatDetails;
  const send = context.heartbeat.bind(context);
  const remember = (next?: unknown): void => {
    details = next;
    send(next);
  };
  // The SDK has no interceptor for heartbeats, and the property is read-only to TypeScript alone.
  Object.defineProperty(context, 'heartbeat', { value: remember });
  const timer = setInterval(() => send(details), BEAT_EVERY_MS);
  return () => clearInterval(timer);
}

function isCancellation(context: Context, error: unknown): boolean {
  return (
    error instanceof CancelledFailure ||
    (context.cancellationSignal.aborted &&
      (error === context.cancellationSignal.reason ||
        (error instanceof Error && error.name === 'AbortError')))
  );
}

/**
 * A full disk may be emptied; a fault of ours stays one. So an unknown error is tried for some minutes only, and one
 * that a parser made by itself, on the same bytes, hardly ever goes away.
 */
const TRIES: Partial<Record<ErrorCode, number>> = { UNEXPECTED_ERROR: 10, PARSER_INTERNAL_ERROR: 3 };

/** What a server may ask for at a time: its clock may be wrong, or the quota that it spoke of be raised meanwhile. */
const MAX_WAIT_MS = 15 * 60_000;

/** The one place where our errors become Temporal's. */
export function toApplicationFailure(error: unknown, attempt: number): ApplicationFailure {
  const known = AppError.from(error);
  const givenUp = attempt >= (TRIES[known.code] ?? Infinity);
  return ApplicationFailure.create({
    type: known.code,
    message: known.message,
    nonRetryable: !known.retryable || givenUp,
    details: [{ code: known.code, status: known.status, ...known.details }],
    ...(known.retryAfterMs === undefined
      ? {}
      : { nextRetryDelay: Math.min(known.retryAfterMs, MAX_WAIT_MS) }),
    ...(error instanceof Error ? { cause: error } : {}),
  });
}
