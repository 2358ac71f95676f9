import { defaultPayloadConverter } from '@temporalio/common';
import type { Headers } from '@temporalio/common';
import type { WorkflowInterceptorsFactory } from '@temporalio/workflow';
import { REQUEST_ID_HEADER } from '../schemas/ids.js';

/**
 * Hands the id of the request that started a plan on to its activities, children and log lines. Headers are no part of
 * what a replay compares, so histories from before there were any replay as they are.
 */
export const interceptors: WorkflowInterceptorsFactory = () => {
  let requestId: string | undefined;
  const withId = (headers: Headers): Headers =>
    requestId === undefined
      ? headers
      : { ...headers, [REQUEST_ID_HEADER]: defaultPayloadConverter.toPayload(requestId) };
  return {
    inbound: [
      {
        execute(input, next) {
          requestId = ownId(input.args) ?? idIn(input.headers);
          return next(input);
        },
      },
    ],
    outbound: [
      {
        scheduleActivity: (input, next) => next({ ...input, headers: withId(input.headers) }),
        startChildWorkflowExecution: (input, next) => next({ ...input, headers: withId(input.headers) }),
        getLogAttributes: (input, next) =>
          next(requestId === undefined ? input : { ...input, request_id: requestId }),
      },
    ],
  };
};

/** A plan that another one started for a task is told in its input: its starter belongs to no request. */
const ownId = ([input]: readonly unknown[]): string | undefined => {
  const id = (input as { requestId?: unknown } | null | undefined)?.requestId;
  return typeof id === 'string' ? id : undefined;
};

const idIn = (headers: Headers): string | undefined => {
  const payload = headers[REQUEST_ID_HEADER];
  return payload === undefined ? undefined : defaultPayloadConverter.fromPayload<string>(payload);
};
