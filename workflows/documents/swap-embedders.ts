import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import {
  ParentClosePolicy,
  continueAsNew,
  executeChild,
  isCancellation,
  proxyActivities,
  setCurrentDetails,
  uuid4,
} from '@temporalio/workflow';
import type { SwapActivities } from '../../activities/documents/swap-activities.js';
import type { SwapGates, SwapStart } from '../../schemas/documents/embedder-swaps.js';
import { swapWorkflowId } from '../../schemas/ids.js';
import { taskQueues } from '../../schemas/task-queues.js';
import { quick } from '../activity-profiles.js';
import { goesOnAsNew } from '../goes-on-as-new.js';
import { swapEmbedder } from './swap-embedder.js';

export type SwapEmbeddersInput = {
  prefix: string;
  source: string;
  target: string;
  /** Partitions at a time. */
  concurrency: number;
  startedBy: string;
  /** Partitions that are listed at a time; 500 where it is not said. */
  listed?: number;
  /** What the executions before this one came to, and the last partition that they took. */
  continued?: { after: string; ended: SwapsEnded };
} & SwapGates;

/** Each partition takes some nine events of a history. */
const LISTED = 500;

/** How many partitions ended so; `skipped`: a swap of them was at work already. */
export type SwapsEnded = Record<'completed' | 'failed' | 'cancelled' | 'skipped', number>;

/**
 * Moves every partition of an embedder to another one, so many at a time. A cancel gives up those at work. Partitions
 * are taken by their names, so that one that failed is not tried again, and the history goes on in a new execution.
 */
export async function swapEmbedders(input: SwapEmbeddersInput): Promise<SwapsEnded> {
  const { prefix, source, target, startedBy: started_by } = input;
  const { min_overlap, min_known_item, question_set = null, min_ndcg = null } = input;
  const { listPartitionsOn } = proxyActivities<SwapActivities>({
    ...quick,
    taskQueue: taskQueues(prefix).models,
  });
  setCurrentDetails(`looks for partitions of ${source}`);
  const { listed: limit = LISTED, continued } = input;
  const ended: SwapsEnded = continued?.ended ?? { completed: 0, failed: 0, cancelled: 0, skipped: 0 };
  let after = continued?.after;
  let waiting: Awaited<ReturnType<typeof listPartitionsOn>> = [];
  const describe = (): void => {
    const { completed, failed } = ended;
    setCurrentDetails(`${completed} partitions moved to ${target}; ${failed} failed`);
  };

  const swapOne = async (place: { partition: string; partition_key: string }): Promise<void> => {
    const swap: SwapStart = {
      ...place,
      swap_id: uuid4(),
      source_embedder: source,
      target_embedder: target,
      min_overlap,
      min_known_item,
      question_set,
      min_ndcg,
      started_by,
    };
    try {
      const status = await executeChild(swapEmbedder, {
        args: [{ prefix, swap }],
        workflowId: swapWorkflowId(prefix, place.partition_key),
        parentClosePolicy: ParentClosePolicy.ABANDON,
        memo: { swap_id: swap.swap_id, partition: place.partition },
        staticSummary: `${place.partition} from ${source} to ${target}`,
      });
      ended[status] += 1;
    } catch (error) {
      if (isCancellation(error)) throw error;
      ended[error instanceof WorkflowExecutionAlreadyStartedError ? 'skipped' : 'failed'] += 1;
    }
    describe();
  };
  const lane = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await swapOne(next);
  };
  for (;;) {
    waiting = await listPartitionsOn({ embedder: source, limit, ...(after === undefined ? {} : { after }) });
    const last = waiting.at(-1)?.partition;
    const isLast = waiting.length < limit;
    describe();
    await Promise.all(Array.from({ length: input.concurrency }, lane));
    if (isLast || last === undefined) return ended;
    after = last;
    if (goesOnAsNew()) return continueAsNew<typeof swapEmbedders>({ ...input, continued: { after, ended } });
  }
}
