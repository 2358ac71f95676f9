import {
  CancellationScope,
  continueAsNew,
  isCancellation,
  proxyActivities,
  setCurrentDetails,
  upsertMemo,
} from '@temporalio/workflow';
import type { EvaluationActivities } from '../../activities/retrieval/evaluation/evaluation-activities.js';
import type { EvaluationStart, EvaluationStatus } from '../../schemas/retrieval/evaluation.js';
import { taskQueues } from '../../schemas/task-queues.js';
import { model, quick } from '../activity-profiles.js';
import { causeOf } from '../cause-of.js';
import { goesOnAsNew } from '../goes-on-as-new.js';

export interface EvaluateInput {
  prefix: string;
  run: EvaluationStart;
  /** Set when a run goes on as a new execution: the first question without a result. */
  continued?: number;
}

/**
 * Asks every question of a set, slice by slice, and counts the results together. A question that was asked is not
 * asked again, whatever is killed; a cancel ends the run with the results that there are.
 */
export async function evaluate(input: EvaluateInput): Promise<Exclude<EvaluationStatus, 'running'>> {
  const { run } = input;
  const runId = run.run_id;
  const taskQueue = taskQueues(input.prefix).models;
  const { runEvaluationSlice } = proxyActivities<EvaluationActivities>({ ...model, taskQueue });
  const { beginEvaluation, finishEvaluation, endEvaluation } = proxyActivities<EvaluationActivities>({
    ...quick,
    taskQueue,
  });

  let next = input.continued ?? 0;
  const describe = (): void => {
    setCurrentDetails(`${next} of ${run.questions_total} questions of ${run.set} asked`);
    upsertMemo({ done: next, total: run.questions_total });
  };

  setCurrentDetails(`${next} of ${run.questions_total} questions of ${run.set} asked`);
  /** Answers whether every question has a result. */
  const ask = async (): Promise<boolean> => {
    if (input.continued === undefined) await beginEvaluation(run);
    for (;;) {
      const slice = await runEvaluationSlice({ runId, from: next });
      ({ next } = slice);
      describe();
      if (slice.done) return true;
      if (goesOnAsNew()) return false;
    }
  };
  const end = async (status: 'failed' | 'cancelled', error: string | null) => {
    const { run_id, partition, partition_key } = run;
    await CancellationScope.nonCancellable(() =>
      endEvaluation({ run: { run_id, partition, partition_key }, status, error }),
    );
    return status;
  };

  let isThrough: boolean;
  try {
    isThrough = await ask();
    if (isThrough) return await CancellationScope.nonCancellable(() => finishEvaluation({ runId }));
  } catch (error) {
    if (isCancellation(error)) return end('cancelled', null);
    return end('failed', causeOf(error).message);
  }
  return continueAsNew<typeof evaluate>({ ...input, continued: next });
}
