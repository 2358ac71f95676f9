import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { Worker } from '@temporalio/worker';
import { indexWorkflowId } from '../../schemas/ids.js';
import { taskQueues } from '../../schemas/task-queues.js';
import type { retainRecords } from '../../workflows/documents/retain-records.js';
import type { reconcileDocuments } from '../../workflows/documents/reconcile-documents.js';
import type { sweepDocuments } from '../../workflows/documents/sweep-documents.js';
import { documentRef, scriptedActivities } from '../support/scripted-activities.js';
import type { AllActivities } from '../support/scripted-activities.js';
import { ended } from '../support/until.js';
import { timeSkippingEnvironment, workflowBundle } from '../support/workflow-environment.js';

let env: TestWorkflowEnvironment;
let serial = 0;

beforeAll(async () => {
  env = await timeSkippingEnvironment();
}, 60_000);
afterAll(async () => {
  await env.teardown();
});

async function withWorker<T>(
  script: Partial<AllActivities>,
  use: (prefix: string, taskQueue: string) => Promise<T>,
): Promise<{ result: T; names: string[]; calls: { name: string; args: unknown[] }[] }> {
  const prefix = `sweep-${(serial += 1)}-`;
  const scripted = scriptedActivities(script);
  const { documents, models } = taskQueues(prefix);
  const connection = env.nativeConnection;
  const activities = scripted.activities;
  const first = await Worker.create({
    connection,
    taskQueue: documents,
    workflowBundle: await workflowBundle(),
    activities,
  });
  const second = await Worker.create({ connection, taskQueue: models, activities });
  const result = await first.runUntil(second.runUntil(() => use(prefix, documents)));
  return { result, names: scripted.names(), calls: scripted.calls };
}

describe('sweepDocuments', () => {
  const sweep = (prefix: string, taskQueue: string) =>
    env.client.workflow.execute<typeof sweepDocuments>('sweepDocuments', {
      workflowId: `${prefix}sweep`,
      taskQueue,
      args: [{ prefix, timeoutMs: 3_600_000 }],
    });

  it('starts what was admitted and has no workflow, and says that it did', async () => {
    const ref = documentRef('late');
    const { result, calls } = await withWorker(
      { findUnstarted: async () => [ref] },
      async (prefix, taskQueue) => {
        const swept = await sweep(prefix, taskQueue);
        const id = indexWorkflowId(prefix, ref.fileKey, ref.generation);
        return { swept, indexed: await ended(env.client, id) };
      },
    );
    expect(result.swept).toEqual({ started: 1, cleaned: 0 });
    expect(result.indexed).toBe('COMPLETED');
    expect(calls.find((call) => call.name === 'markHandedOver')?.args).toEqual([[ref.taskId]]);
  });

  it('takes a workflow that runs already for started', async () => {
    const ref = documentRef('twice');
    const { result } = await withWorker(
      { findUnstarted: async () => [ref, ref] },
      async (prefix, taskQueue) => sweep(prefix, taskQueue),
    );
    expect(result.started).toBe(2);
  });

  it('cleans the files that a crash left dirty', async () => {
    const { result, calls } = await withWorker(
      { findDirtyFiles: async () => ['a', 'b'] },
      async (prefix, taskQueue) => sweep(prefix, taskQueue),
    );
    expect(result.cleaned).toBe(2);
    expect(calls.filter((call) => call.name === 'cleanFile').map((call) => call.args[0])).toEqual(['a', 'b']);
  });
});

describe('retainRecords', () => {
  it.each(['tasks', 'callbacks'] as const)(
    'removes %s that ended before its border, and no others',
    async (of) => {
      const began = await env.currentTimeMs();
      const { result, calls } = await withWorker({ removeEnded: async () => 3 }, async (prefix, taskQueue) =>
        env.client.workflow.execute<typeof retainRecords>('retainRecords', {
          workflowId: `${prefix}retain`,
          taskQueue,
          args: [{ prefix, of, retentionDays: 30 }],
        }),
      );
      expect(result).toEqual({ removed: 3 });
      expect(calls).toHaveLength(1);
      const [asked] = calls[0]!.args as [{ of: string; beforeMs: number }];
      expect(asked.of).toBe(of);
      expect(Math.abs(asked.beforeMs - (began - 30 * 86_400_000))).toBeLessThan(60_000);
    },
  );
});

describe('reconcileDocuments', () => {
  it('removes what no record knows', async () => {
    const { result } = await withWorker(
      { removeOrphans: async () => ({ chunks: 4, blobs: 2 }) },
      async (prefix, taskQueue) =>
        env.client.workflow.execute<typeof reconcileDocuments>('reconcileDocuments', {
          workflowId: `${prefix}reconcile`,
          taskQueue,
          args: [{ prefix }],
        }),
    );
    expect(result).toEqual({ chunks: 4, blobs: 2 });
  });
});
