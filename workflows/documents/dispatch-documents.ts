import {
  allHandlersFinished,
  condition,
  continueAsNew,
  defineSignal,
  patched,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { SweepActivities } from '../../activities/documents/sweep-activities.js';
import { taskQueues } from '../../schemas/task-queues.js';
import { quick } from '../activity-profiles.js';
import { startIndexing } from './start-indexing.js';

export interface DispatchDocumentsInput {
  prefix: string;
  timeoutMs: number;
  /** Between two rounds while tasks wait; half a second unless told. */
  roundMs?: number;
}

/**
 * A timer below two seconds, which Temporal may fire a second late. Each round fills all of a user's places (32 unless
 * set otherwise), so some twenty files a second are started of each user, which is more than two cores index.
 */
const ROUND_MS = 500;

/** A task was admitted that has to wait for its turn. */
const queued = defineSignal('queued');

/**
 * Starts what waits for its turn, round by round, until no task waits. The records say whose turn it is, so losing a
 * run loses nothing; the sweep does the same every half minute, in case the signal to this workflow was lost.
 */
export async function dispatchDocuments(input: DispatchDocumentsInput): Promise<void> {
  const { nextTurns, markHandedOver } = proxyActivities<SweepActivities>({
    ...quick,
    taskQueue: taskQueues(input.prefix).documents,
  });
  let told = false;
  setHandler(queued, () => {
    told = true;
  });
  for (;;) {
    told = false;
    setCurrentDetails('looks whose turn it is');
    const { refs, waiting } = await nextTurns();
    // At once: one after the other costs a turn of the plan each, and places stay empty meanwhile.
    if (patched('at-once')) await Promise.all(refs.map((ref) => startIndexing(ref, input)));
    else for (const ref of refs) await startIndexing(ref, input);
    if (refs.length > 0) await markHandedOver(refs.map(({ taskId }) => taskId));
    setCurrentDetails(`${waiting} files wait for their turn`);
    if (waiting === 0 && !told) break;
    if (workflowInfo().continueAsNewSuggested) {
      await condition(allHandlersFinished);
      await continueAsNew<typeof dispatchDocuments>(input);
    }
    await condition(() => false, input.roundMs ?? ROUND_MS);
  }
  await condition(allHandlersFinished);
}
