import type { ScheduleClientInterceptor, WorkflowClientInterceptor } from '@temporalio/client';
import { defineSearchAttributeKey } from '@temporalio/common';
import type { SearchAttributePair } from '@temporalio/common';
import { KIND_ATTRIBUTE, PARTITION_ATTRIBUTE, workflowKind } from '../../schemas/ids.js';

const kindAttribute = defineSearchAttributeKey(KIND_ATTRIBUTE, 'KEYWORD');
const partitionAttribute = defineSearchAttributeKey(PARTITION_ATTRIBUTE, 'KEYWORD');

interface Start {
  memo?: Record<string, unknown> | undefined;
}

/**
 * Gives all that a client starts our search attributes: its kind, and the partition that its memo names. Where the
 * namespace does not know them it is started without. What a workflow starts gets them by
 * `workflows/search-attributes.ts`, if that workflow has them.
 */
export function attributingInterceptors(temporal: { encryptPayloads: boolean }): {
  workflow: WorkflowClientInterceptor;
  schedule: ScheduleClientInterceptor;
} {
  const attributesOf = (workflowType: string, { memo }: Start): SearchAttributePair[] => {
    const partition = memo?.['partition'];
    return [
      { key: kindAttribute, value: workflowKind(workflowType) },
      // Attributes are kept as they are: no codec reaches them.
      ...(typeof partition === 'string' && !temporal.encryptPayloads
        ? [{ key: partitionAttribute, value: partition }]
        : []),
    ];
  };

  const start = async <Input extends { workflowType: string; options: Start }, Output>(
    input: Input,
    next: (input: Input) => Promise<Output>,
  ): Promise<Output> => {
    const { workflowType, options } = input;
    const typedSearchAttributes = attributesOf(workflowType, options);
    return orWithout(
      () => next({ ...input, options: { ...options, typedSearchAttributes } }),
      () => next(input),
    );
  };

  return {
    workflow: { startWithDetails: start, signalWithStart: start },
    schedule: {
      async create(input, next) {
        const { action } = input.options;
        const typedSearchAttributes = attributesOf(action.workflowType, action);
        return orWithout(
          () =>
            next({
              ...input,
              options: { ...input.options, action: { ...action, typedSearchAttributes } },
            }),
          () => next(input),
        );
      },
    },
  };
}

async function orWithout<T>(start: () => Promise<T>, startWithout: () => Promise<T>): Promise<T> {
  try {
    return await start();
  } catch (error) {
    if (!isUnknownAttribute(error)) throw error;
    return startWithout();
  }
}

function isUnknownAttribute(error: unknown): boolean {
  const text = `${String(error)} ${error instanceof Error ? String(error.cause) : ''}`;
  return /search attribute/i.test(text);
}
