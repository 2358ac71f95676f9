import { defineSearchAttributeKey } from '@temporalio/common';
import { workflowInfo } from '@temporalio/workflow';
import type { WorkflowInterceptorsFactory } from '@temporalio/workflow';
import { KIND_ATTRIBUTE, PARTITION_ATTRIBUTE, workflowKind } from '../schemas/ids.js';

const kindAttribute = defineSearchAttributeKey(KIND_ATTRIBUTE, 'KEYWORD');
const partitionAttribute = defineSearchAttributeKey(PARTITION_ATTRIBUTE, 'KEYWORD');

/**
 * Gives what a workflow starts its search attributes: its kind, and the partition that its memo names. Only where the
 * workflow has a kind itself: the namespace knows the attributes then, and one that does not would refuse the start.
 * Attributes are no part of what a replay compares, so histories from before replay as they are.
 */
export function attributeChildren(options: { namesPartitions: boolean }): WorkflowInterceptorsFactory {
  return () => ({
    outbound: [
      {
        startChildWorkflowExecution(input, next) {
          if (workflowInfo().typedSearchAttributes.get(kindAttribute) === undefined) return next(input);
          const partition = input.options.memo?.['partition'];
          const typedSearchAttributes = [
            { key: kindAttribute, value: workflowKind(input.workflowType) },
            ...(options.namesPartitions && typeof partition === 'string'
              ? [{ key: partitionAttribute, value: partition }]
              : []),
          ];
          return next({ ...input, options: { ...input.options, typedSearchAttributes } });
        },
      },
    ],
  });
}

export const interceptors = attributeChildren({ namesPartitions: true });
