import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { Worker } from '@temporalio/worker';
import { createEvaluationActivities } from '../../activities/retrieval/evaluation/evaluation-activities.js';
import type { EvaluationActivities } from '../../activities/retrieval/evaluation/evaluation-activities.js';
import { AppError } from '../../schemas/app-error.js';
import { evaluationWorkflowId } from '../../schemas/ids.js';
import { taskQueues } from '../../schemas/task-queues.js';
import { createActivityInterceptors } from '../../workers/activity-interceptor.js';
import type { evaluate } from '../../workflows/retrieval/evaluate.js';
import { openEvaluationStage } from '../support/evaluation-stage.js';
import { untilCancelled } from '../support/scripted-activities.js';
import { until } from '../support/until.js';
import { timeSkippingEnvironment, workflowBundle } from '../support/workflow-environment.js';

let env: TestWorkflowEnvironment;

beforeAll(async () => {
  env = await timeSkippingEnvironment();
}, 60_000);
afterAll(async () => {
  await env.teardown();
});

type Stage = Awaited<ReturnType<typeof openEvaluationStage>>;

/** The plan with the real activities over fakes. */
async function onStage(
  use: (stage: Stage, start: () => ReturnType<typeof begin>) => Promise<void>,
  override: (activities: EvaluationActivities) => Partial<EvaluationActivities> = () => ({}),
): Promise<void> {
  const stage = await openEvaluationStage({ files: 6 });
  const prefix = `evaluate-${randomUUID()}-`;
  const { documents, models } = taskQueues(prefix);
  const activities = createEvaluationActivities({ ...stage, sliceMs: 0 });
  const connection = env.nativeConnection;
  const plans = await Worker.create({
    connection,
    taskQueue: documents,
    workflowBundle: await workflowBundle(),
  });
  const hands = await Worker.create({
    connection,
    taskQueue: models,
    maxHeartbeatThrottleInterval: 50,
    activities: { ...activities, ...override(activities) },
    interceptors: {
      activity: [
        createActivityInterceptors(
          () => undefined,
          () => undefined,
          null,
        ),
      ],
    },
  });
  await plans.runUntil(hands.runUntil(() => use(stage, () => begin(prefix, stage))));
}

function begin(prefix: string, { start }: Stage) {
  return env.client.workflow.start<typeof evaluate>('evaluate', {
    workflowId: evaluationWorkflowId(prefix, start.partition_key),
    taskQueue: taskQueues(prefix).documents,
    args: [{ prefix, run: start }],
  });
}

describe('evaluate', () => {
  it('asks every question once, and counts the results together', async () => {
    await onStage(async (stage, start) => {
      const run = await start();
      expect(await run.result()).toBe('completed');
      expect(stage.asked).toEqual(stage.questions);
      expect(await stage.run()).toMatchObject({
        status: 'completed',
        questions_done: 6,
        error: null,
        summary: { failed: 0, measures: { ndcg_10: { mean: 1, count: 6 } }, chat: null },
      });
    });
  });

  it('tries again while an engine is away', async () => {
    let failures = 3;
    await onStage(
      async (stage, start) => {
        expect(await (await start()).result()).toBe('completed');
        expect(failures).toBe(0);
        expect((await stage.run())!.questions_done).toBe(6);
      },
      (activities) => ({
        async runEvaluationSlice(input) {
          if (failures > 0) {
            failures -= 1;
            throw new AppError('VDB_CONNECTION_ERROR');
          }
          return activities.runEvaluationSlice(input);
        },
      }),
    );
  });

  it('fails with the reason when the set is gone, and leaves nothing when the partition is', async () => {
    await onStage(async (stage, start) => {
      await stage.adapters.questionSets.removeAll(stage.start.partition_key);
      expect(await (await start()).result()).toBe('failed');
      expect(await stage.run()).toMatchObject({
        status: 'failed',
        error: expect.stringContaining('was deleted'),
      });
    });
    await onStage(async (stage, start) => {
      await stage.adapters.partitions.markDeleted('library');
      expect(await (await start()).result()).toBe('failed');
      expect(await stage.run()).toBeNull();
    });
  });

  it('ends with the results that there are when it is cancelled', async () => {
    let slices = 0;
    await onStage(
      async (stage, start) => {
        const run = await start();
        await until('two slices are done', async () => slices === 2);
        await run.cancel();
        expect(await run.result()).toBe('cancelled');
        expect(await stage.run()).toMatchObject({ status: 'cancelled', questions_done: 2, summary: null });
      },
      (activities) => ({
        async runEvaluationSlice(input) {
          if (slices === 2) return untilCancelled();
          const slice = await activities.runEvaluationSlice(input);
          slices += 1;
          return slice;
        },
      }),
    );
  });
});
