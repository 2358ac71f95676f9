import { WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import type { WorkflowClientInterceptor } from '@temporalio/client';
import { WorkflowNotFoundError, defaultPayloadConverter } from '@temporalio/common';
import type { Headers } from '@temporalio/common';
import type { Meter } from '../activities/ports/meter.js';
import type { Tracer } from '../activities/ports/tracer.js';
import { currentRequestId, currentSpan } from '../activities/request-scope.js';
import { REQUEST_ID_HEADER, TRACE_HEADER } from '../schemas/ids.js';

/**
 * Around every call: it is counted and has a span, and a plan that a request starts is told its id and that span. What
 * several requests wake with a signal belongs to none of them.
 */
export function callInterceptor(
  meter: Pick<Meter, 'engineCalled'>,
  tracer: Tracer | null,
): WorkflowClientInterceptor {
  const counted = async <T>(
    operation: string,
    name: string,
    call: (traceparent: string | undefined) => Promise<T>,
  ): Promise<T> => {
    const parent = currentSpan();
    const span = parent === undefined ? undefined : tracer?.begin(name, 'producer', parent);
    const started = performance.now();
    const tell = (failed: boolean): void => {
      const seconds = (performance.now() - started) / 1000;
      meter.engineCalled({ engine: 'temporal', operation, failed, seconds });
      span?.end({ failed });
    };
    try {
      const answer = await call(span?.traceparent);
      tell(false);
      return answer;
    } catch (error) {
      // It runs, or ran, already: an answer as good as any.
      tell(
        !(error instanceof WorkflowExecutionAlreadyStartedError || error instanceof WorkflowNotFoundError),
      );
      throw error;
    }
  };
  // The names that Temporal's own interceptors give.
  return {
    startWithDetails: (input, next) =>
      counted('start', `StartWorkflow:${input.workflowType}`, (traceparent) =>
        next({
          ...input,
          headers: {
            ...input.headers,
            ...payloads({ [REQUEST_ID_HEADER]: currentRequestId(), [TRACE_HEADER]: traceparent }),
          },
        }),
      ),
    signalWithStart: (input, next) =>
      counted('signal_with_start', `SignalWithStartWorkflow:${input.workflowType}`, () => next(input)),
    signal: (input, next) => counted('signal', `SignalWorkflow:${input.signalName}`, () => next(input)),
    cancel: (input, next) => counted('cancel', 'CancelWorkflow', () => next(input)),
  };
}

function payloads(values: Readonly<Record<string, string | undefined>>): Headers {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, defaultPayloadConverter.toPayload(value)]],
    ),
  );
}
