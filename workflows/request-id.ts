import { defaultPayloadConverter } from '@temporalio/common';
import type { Headers } from '@temporalio/common';
import type { WorkflowInterceptorsFactory } from '@temporalio/workflow';
import { REQUEST_ID_HEADER, TRACE_HEADER } from '../schemas/ids.js';

/** What goes along, by the field of an input that tells it where no header does. */
const HEADER_OF = { requestId: REQUEST_ID_HEADER, traceparent: TRACE_HEADER } as const;

/**
 * Hands the id of the request that started a plan on to its activities, children and log lines, and its span to the
 * first two. Headers are no part of what a replay compares, so histories from before there were any replay as they are.
 */
export const interceptors: WorkflowInterceptorsFactory = () => {
  let carried: Headers = {};
  let requestId: string | undefined;
  return {
    inbound: [
      {
        execute(input, next) {
          carried = carriedBy(input.args[0], input.headers);
          const id = carried[REQUEST_ID_HEADER];
          requestId = id && defaultPayloadConverter.fromPayload<string>(id);
          return next(input);
        },
      },
    ],
    outbound: [
      {
        scheduleActivity: (input, next) => next({ ...input, headers: { ...input.headers, ...carried } }),
        scheduleLocalActivity: (input, next) => next({ ...input, headers: { ...input.headers, ...carried } }),
        startChildWorkflowExecution: (input, next) =>
          next({ ...input, headers: { ...input.headers, ...carried } }),
        getLogAttributes: (input, next) =>
          next(requestId === undefined ? input : { ...input, request_id: requestId }),
      },
    ],
  };
};

/** A plan that another one started for a task is told in its input: its starter belongs to no request. */
function carriedBy(given: unknown, headers: Headers): Headers {
  const carried: Headers = {};
  for (const [field, header] of Object.entries(HEADER_OF)) {
    const own = (given as Record<string, unknown> | null | undefined)?.[field];
    const payload = typeof own === 'string' ? defaultPayloadConverter.toPayload(own) : headers[header];
    if (payload !== undefined) carried[header] = payload;
  }
  return carried;
}
