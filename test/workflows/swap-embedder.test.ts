import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { Worker } from '@temporalio/worker';
import { createSwapActivities } from '../../activities/documents/swap-activities.js';
import type { SwapActivities } from '../../activities/documents/swap-activities.js';
import { AppError } from '../../schemas/app-error.js';
import type { SwapStart } from '../../schemas/documents/embedder-swaps.js';
import { swapWorkflowId, swapsWorkflowId } from '../../schemas/ids.js';
import { taskQueues } from '../../schemas/task-queues.js';
import { createActivityInterceptors } from '../../workers/activity-interceptor.js';
import type { swapEmbedder } from '../../workflows/documents/swap-embedder.js';
import type { swapEmbedders } from '../../workflows/documents/swap-embedders.js';
import { activityBench } from '../support/activity-bench.js';
import { createSwapEmbedders } from '../support/documents/swap-embedders.js';
import { plainSearch } from '../support/plain-search.js';
import { ended, until } from '../support/until.js';
import { timeSkippingEnvironment, workflowBundle } from '../support/workflow-environment.js';

let env: TestWorkflowEnvironment;
let serial = 0;

beforeAll(async () => {
  env = await timeSkippingEnvironment();
}, 60_000);
afterAll(async () => {
  await env.teardown();
});

/** The plans with the real activities over fakes, in some empty partitions. */
async function onStage(
  use: (stage: Awaited<ReturnType<typeof openStage>>) => Promise<void>,
  override: (activities: SwapActivities) => Partial<SwapActivities> = () => ({}),
): Promise<void> {
  const stage = await openStage();
  const { documents, models } = taskQueues(stage.prefix);
  const activities = createSwapActivities({
    adapters: stage.adapters,
    search: plainSearch(stage.adapters),
    sliceMs: 0,
  });
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
  await plans.runUntil(hands.runUntil(() => use(stage)));
}

async function openStage() {
  const prefix = `swap-${(serial += 1)}-`;
  const bench = await activityBench();
  const embedders = createSwapEmbedders();
  const first = await bench.models.embedder('builtin-hash');
  const models = { ...bench.models, embedder: async (name: string) => embedders.get(name, first) };
  const adapters = { ...bench, models };
  const { partition, partition_key } = (await bench.partitions.get('library'))!;
  const swap: SwapStart = {
    swap_id: randomUUID(),
    partition,
    partition_key,
    source_embedder: 'builtin-hash',
    target_embedder: 'turned',
    min_overlap: null,
    min_known_item: null,
    started_by: '1',
  };
  const start = (more: Partial<SwapStart> = {}) =>
    env.client.workflow.start<typeof swapEmbedder>('swapEmbedder', {
      workflowId: swapWorkflowId(prefix, partition_key),
      taskQueue: taskQueues(prefix).documents,
      args: [{ prefix, swap: { ...swap, ...more } }],
    });
  const recordOf = () => bench.embedderSwaps.get(swap.swap_id);
  return { prefix, adapters, bench, embedders, swap, start, recordOf };
}

describe('swapEmbedder', () => {
  it('comes to its end, and answers how it stands', async () => {
    await onStage(async ({ bench, start, recordOf }) => {
      const run = await start();
      expect(await run.result()).toBe('completed');
      expect(await run.query('progress')).toMatchObject({ paused: false, position: { phase: 'done' } });
      expect(await recordOf()).toMatchObject({ status: 'completed', phase: 'done', error: null });
      expect((await bench.partitions.get('library'))?.embedder).toBe('turned');
    });
  });

  it('is held back by its figures, with the reason in the record', async () => {
    const held = 'The switch is held back: 0.1 of the first ten results stay.';
    await onStage(
      async ({ bench, start, recordOf }) => {
        expect(await (await start()).result()).toBe('failed');
        expect(await recordOf()).toMatchObject({
          status: 'failed',
          error: held,
          error_code: 'EMBEDDER_SWAP_HELD_BACK',
        });
        expect(await bench.partitions.get('library')).toMatchObject({ embedder: 'builtin-hash', swap: null });
      },
      (activities) => ({
        runEmbedderSwapSlice: async (input) => ({ ...(await activities.runEmbedderSwapSlice(input)), held }),
      }),
    );
  });

  it('tries an embedder that is away again, and fails with the reason for one that is not registered', async () => {
    let failures = 3;
    await onStage(
      async ({ start, recordOf }) => {
        expect(await (await start()).result()).toBe('failed');
        expect(failures).toBe(0);
        expect(await recordOf()).toMatchObject({
          status: 'failed',
          error: expect.stringContaining('not registered'),
          error_code: 'MODEL_ENDPOINT_NOT_FOUND',
        });
      },
      () => ({
        async runEmbedderSwapSlice() {
          failures -= 1;
          if (failures > 0) throw new AppError('EMBEDDING_API_ERROR');
          throw new AppError('MODEL_ENDPOINT_NOT_FOUND', "The model endpoint 'turned' is not registered.");
        },
      }),
    );
  });

  it('waits while it is paused, and a cancel leaves the embedder', async () => {
    let slices = 0;
    let hold = true;
    await onStage(
      async ({ bench, start, recordOf }) => {
        const run = await start();
        await until('a slice runs', async () => slices === 1);
        await run.signal('pause');
        hold = false;
        await until('it is paused', async () => {
          const answer = await run.query<{ paused: boolean; position: object | null }>('progress');
          return answer.paused && answer.position !== null;
        });
        await run.cancel();
        expect(await ended(env.client, run.workflowId)).toBe('COMPLETED');
        expect(slices).toBe(1);
        expect(await recordOf()).toMatchObject({ status: 'cancelled', error: null });
        expect(await bench.partitions.get('library')).toMatchObject({ embedder: 'builtin-hash', swap: null });
      },
      (activities) => ({
        async runEmbedderSwapSlice(input) {
          slices += 1;
          await until('the slice may end', async () => !hold);
          return activities.runEmbedderSwapSlice(input);
        },
      }),
    );
  });

  it('obeys no cancel once it has switched', async () => {
    let switched = false;
    let hold = true;
    await onStage(
      async ({ bench, start, recordOf }) => {
        const run = await start();
        await until('the switch is made', async () => switched);
        await run.cancel();
        hold = false;
        expect(await ended(env.client, run.workflowId)).toBe('COMPLETED');
        expect(await recordOf()).toMatchObject({ status: 'completed' });
        expect((await bench.partitions.get('library'))?.embedder).toBe('turned');
      },
      (activities) => ({
        async runEmbedderSwapSlice(input) {
          const slice = await activities.runEmbedderSwapSlice(input);
          if (input.position?.phase !== 'switching') return slice;
          switched = true;
          await until('the slice may end', async () => !hold);
          return slice;
        },
      }),
    );
  });
});

describe('swapEmbedders', () => {
  it('moves every partition of the embedder, and no other', async () => {
    await onStage(async ({ prefix, bench }) => {
      for (const partition of ['one', 'two'])
        await bench.partitions.create({ partition, embedder: 'builtin-hash', ownerId: 1 });
      await bench.partitions.create({ partition: 'other', embedder: 'another', ownerId: 1 });
      const input = { prefix, source: 'builtin-hash', target: 'turned', concurrency: 2, startedBy: '1' };
      const run = await env.client.workflow.start<typeof swapEmbedders>('swapEmbedders', {
        workflowId: swapsWorkflowId(prefix, 'builtin-hash'),
        taskQueue: taskQueues(prefix).documents,
        args: [{ ...input, min_overlap: null, min_known_item: null }],
      });
      expect(await run.result()).toEqual({ completed: 3, failed: 0, cancelled: 0, skipped: 0 });
      const embedders = (await bench.partitions.list({ kind: 'all', userId: 0 })).map(
        ({ partition, embedder }) => [partition, embedder],
      );
      expect(embedders).toEqual([
        ['library', 'turned'],
        ['one', 'turned'],
        ['other', 'another'],
        ['two', 'turned'],
      ]);
      expect(await bench.embedderSwaps.list(10)).toHaveLength(3);
    });
  });

  it('takes them page by page, each once, and goes on behind those of the execution before', async () => {
    const begun: string[] = [];
    await onStage(
      async ({ prefix, bench }) => {
        for (const partition of ['five', 'four', 'one', 'three', 'two'])
          await bench.partitions.create({ partition, embedder: 'builtin-hash', ownerId: 1 });
        const input = { prefix, source: 'builtin-hash', target: 'turned', concurrency: 2, startedBy: '1' };
        const before = { completed: 7, failed: 1, cancelled: 0, skipped: 2 };
        const run = await env.client.workflow.start<typeof swapEmbedders>('swapEmbedders', {
          workflowId: swapsWorkflowId(prefix, 'builtin-hash'),
          taskQueue: taskQueues(prefix).documents,
          args: [
            {
              ...input,
              min_overlap: null,
              min_known_item: null,
              listed: 2,
              continued: { after: 'five', ended: before },
            },
          ],
        });
        expect(await run.result()).toEqual({ completed: 11, failed: 2, cancelled: 0, skipped: 2 });
        // What failed has its embedder still, and is not begun again.
        expect(begun.sort()).toEqual(['four', 'library', 'one', 'three', 'two']);
        expect((await bench.partitions.get('five'))?.embedder).toBe('builtin-hash');
      },
      (activities) => ({
        async beginEmbedderSwap(swap) {
          begun.push(swap.partition);
          if (swap.partition === 'one') throw new AppError('NOT_FOUND');
          return activities.beginEmbedderSwap(swap);
        },
      }),
    );
  });
});
