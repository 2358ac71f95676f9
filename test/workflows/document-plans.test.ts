import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { Worker } from '@temporalio/worker';
import { cleanPartitionWorkflowId, dispatchWorkflowId, indexWorkflowId } from '../../schemas/ids.js';
import { taskQueues } from '../../schemas/task-queues.js';
import type { cleanPartition } from '../../workflows/documents/clean-partition.js';
import type { copyDocument } from '../../workflows/documents/copy-document.js';
import type { dispatchDocuments } from '../../workflows/documents/dispatch-documents.js';
import type { settleDocument } from '../../workflows/documents/settle-document.js';
import { documentRef, scriptedActivities, untilCancelled } from '../support/scripted-activities.js';
import type { AllActivities } from '../support/scripted-activities.js';
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

type Calls = ReturnType<typeof scriptedActivities>['calls'];

async function onStage(
  script: Partial<AllActivities>,
  use: (given: { prefix: string; taskQueue: string; calls: Calls }) => Promise<void>,
): Promise<void> {
  const prefix = `dispatch-${(serial += 1)}-`;
  const { activities, calls } = scriptedActivities(script);
  const { documents, models } = taskQueues(prefix);
  const connection = env.nativeConnection;
  const common = { connection, activities, maxHeartbeatThrottleInterval: 50 };
  const plans = await Worker.create({
    ...common,
    taskQueue: documents,
    workflowBundle: await workflowBundle(),
  });
  const hands = await Worker.create({ ...common, taskQueue: models });
  await plans.runUntil(hands.runUntil(() => use({ prefix, taskQueue: documents, calls })));
}

/** What the calls of an activity were given, in their order. */
function given(calls: Calls, name: string): unknown[] {
  return calls.filter((call) => call.name === name).map(({ args: [first] }) => first);
}

function idOf(prefix: string, { fileKey, generation }: ReturnType<typeof documentRef>): string {
  return indexWorkflowId(prefix, fileKey, generation);
}

const settings = { timeoutMs: 3_600_000 };

describe('dispatchDocuments', () => {
  const start = (prefix: string, taskQueue: string) =>
    env.client.workflow.start<typeof dispatchDocuments>('dispatchDocuments', {
      workflowId: dispatchWorkflowId(prefix),
      taskQueue,
      args: [{ prefix, ...settings }],
    });
  const [one, other, last] = ['one', 'other', 'last'].map(documentRef) as [
    ReturnType<typeof documentRef>,
    ReturnType<typeof documentRef>,
    ReturnType<typeof documentRef>,
  ];

  it('starts what has its turn, round by round, until no task waits', async () => {
    const rounds = [
      { refs: [one, { ...other, copy: true as const, partition: 'library', fileId: 'a-file' }], waiting: 1 },
      { refs: [], waiting: 1 },
      { refs: [last], waiting: 0 },
    ];
    await onStage({ nextTurns: async () => rounds.shift()! }, async ({ prefix, taskQueue, calls }) => {
      await (await start(prefix, taskQueue)).result();
      for (const ref of [one, other, last])
        expect(await ended(env.client, idOf(prefix, ref))).toBe('COMPLETED');
      expect(rounds).toEqual([]);
      expect(given(calls, 'markHandedOver')).toEqual([[one.taskId, other.taskId], [last.taskId]]);
      expect(given(calls, 'copyVersion')).toEqual([other]);
      expect(given(calls, 'parseDocument')).toEqual(expect.arrayContaining([one, last]));
      const { memo } = await env.client.workflow.getHandle(idOf(prefix, other)).describe();
      expect(memo).toMatchObject({ task_id: other.taskId, partition: 'library', file_id: 'a-file' });
    });
  });

  it('looks again where it was told of a task during its last look', async () => {
    let looks = 0;
    let told = false;
    const nextTurns = async () => {
      looks += 1;
      if (looks > 1) return { refs: [last], waiting: 0 };
      await until('it was told', async () => told);
      return { refs: [], waiting: 0 };
    };
    await onStage({ nextTurns }, async ({ prefix, taskQueue, calls }) => {
      const run = await start(prefix, taskQueue);
      await until('it looks', async () => looks === 1);
      await run.signal('queued');
      told = true;
      await run.result();
      expect(looks).toBe(2);
      expect(given(calls, 'markHandedOver')).toEqual([[last.taskId]]);
    });
  });

  it('takes a plan that runs already for started, and marks it with the others', async () => {
    let indexing = true;
    const script: Partial<AllActivities> = {
      nextTurns: async () => ({ refs: [one, other], waiting: 0 }),
      async parseDocument({ taskId }) {
        if (taskId === one.taskId) await until('it may go on', async () => !indexing);
        return { chunkCount: 1 };
      },
    };
    await onStage(script, async ({ prefix, taskQueue, calls }) => {
      await env.client.workflow.start('indexDocument', {
        workflowId: idOf(prefix, one),
        taskQueue,
        args: [{ ...one, prefix, ...settings }],
      });
      await (await start(prefix, taskQueue)).result();
      expect(given(calls, 'markHandedOver')).toEqual([[one.taskId, other.taskId]]);
      indexing = false;
      for (const ref of [one, other]) expect(await ended(env.client, idOf(prefix, ref))).toBe('COMPLETED');
      expect(
        given(calls, 'parseDocument').filter((ref) => (ref as typeof one).taskId === one.taskId),
      ).toHaveLength(1);
    });
  });
});

/** The test server never answers a cancel of what has ended: its recorded history shows that. */
describe('cleanPartition', () => {
  it('stops what runs and clears file after file, page by page, until none is left', async () => {
    const running = documentRef('running');
    const file = (fileKey: string, generations: number[] = []) => ({ fileKey, running: generations });
    const pages = [[file('at-rest'), file(running.fileKey, [running.generation])], [file('second-page')]];
    const script: Partial<AllActivities> = {
      parseDocument: untilCancelled,
      deletedFiles: async () => pages.shift() ?? [],
    };
    await onStage(script, async ({ prefix, taskQueue, calls }) => {
      await env.client.workflow.start('indexDocument', {
        workflowId: idOf(prefix, running),
        taskQueue,
        args: [{ ...running, prefix, ...settings }],
      });
      await until('it is being read', async () => given(calls, 'parseDocument').length > 0);
      const before = calls.length;
      await env.client.workflow.execute<typeof cleanPartition>('cleanPartition', {
        workflowId: cleanPartitionWorkflowId(prefix, 'key'),
        taskQueue,
        args: [{ prefix, partition: 'library', partitionKey: 'key' }],
      });
      expect(calls[before]).toEqual({
        name: 'finishDeletion',
        args: [{ partition: 'library', partition_key: 'key' }],
      });
      expect(given(calls, 'deletedFiles')).toEqual(['key', 'key', 'key']);
      expect(new Set(given(calls, 'cleanFile'))).toEqual(
        new Set(['at-rest', running.fileKey, 'second-page']),
      );
      expect(await ended(env.client, idOf(prefix, running))).toBe('CANCELLED');
      expect(given(calls, 'publishDocument')).toEqual([]);
    });
  });
});

describe('copyDocument', () => {
  it('copies, publishes what it copied, and tells the dispatcher of attachments', async () => {
    const ref = documentRef('copy');
    const copyVersion = async () => ({ chunkCount: 5, attached: true as const });
    await onStage({ copyVersion }, async ({ prefix, taskQueue, calls }) => {
      const view = await env.client.workflow.execute<typeof copyDocument>('copyDocument', {
        workflowId: idOf(prefix, ref),
        taskQueue,
        args: [{ ...ref, copy: true, prefix, ...settings }],
      });
      expect(view).toMatchObject({ task_id: ref.taskId, task_state: 'COMPLETED', chunks: 5 });
      expect(await ended(env.client, dispatchWorkflowId(prefix))).toBe('COMPLETED');
      const names = calls.map(({ name }) => name).filter((name) => name !== 'nextTurns');
      expect(names).toEqual(['copyVersion', 'publishDocument']);
      expect(calls.find(({ name }) => name === 'publishDocument')?.args).toEqual([ref, 5]);
    });
  });
});

describe('settleDocument', () => {
  it('has the chunks of a file follow the change that it is told', async () => {
    await onStage({}, async ({ prefix, taskQueue, calls }) => {
      await env.client.workflow.execute<typeof settleDocument>('settleDocument', {
        workflowId: `${prefix}settle`,
        taskQueue,
        args: [{ prefix, fileKey: 'file', token: 'token' }],
      });
      expect(calls).toEqual([{ name: 'settleFileChunks', args: ['file', 'token'] }]);
    });
  });
});
