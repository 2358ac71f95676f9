import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { Worker } from '@temporalio/worker';
import { createCallbackActivities } from '../../activities/documents/callback-activities.js';
import { AppError } from '../../schemas/app-error.js';
import { callbackWorkflowId } from '../../schemas/ids.js';
import { taskQueues } from '../../schemas/task-queues.js';
import { createActivityInterceptors } from '../../workers/activity-interceptor.js';
import type { deliverCallback } from '../../workflows/documents/deliver-callback.js';
import { sampleTask } from '../contracts/samples.js';
import { createFakeStores } from '../support/fakes/create-fake-stores.js';
import { timeSkippingEnvironment, workflowBundle } from '../support/workflow-environment.js';

let env: TestWorkflowEnvironment;
let serial = 0;

beforeAll(async () => {
  env = await timeSkippingEnvironment();
}, 60_000);
afterAll(async () => {
  await env.teardown();
});

const HOUR_MS = 3_600_000;

/** The plan with the real activities over fakes. The receiver answers in turn, and then what it answered last. */
async function deliver(answers: (number | Error)[]) {
  const prefix = `callback-${(serial += 1)}-`;
  const taskQueue = taskQueues(prefix).documents;
  const stores = createFakeStores();
  const task = sampleTask({});
  await stores.tasks.insert(task);
  await stores.callbacks.insert({ taskId: task.task_id, url: 'https://example.org/', token: 't' });
  await stores.tasks.finish(task.task_id, 'COMPLETED');
  let sent = 0;
  const post = async () => {
    const answer = answers[Math.min(sent, answers.length - 1)]!;
    sent += 1;
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const activities = createCallbackActivities({
    adapters: { ...stores, callbackClient: { post, close: async () => undefined } },
    settings: { graceMs: 0 },
    // Long after: what still waits would be taken for untold.
    now: () => new Date(Date.now() + 2 * HOUR_MS),
  });
  const worker = await Worker.create({
    connection: env.nativeConnection,
    taskQueue,
    workflowBundle: await workflowBundle(),
    activities,
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
  const workflowId = callbackWorkflowId(prefix, task.task_id);
  const result = await worker.runUntil(
    env.client.workflow.execute<typeof deliverCallback>('deliverCallback', {
      workflowId,
      taskQueue,
      args: [{ prefix, taskId: task.task_id }],
    }),
  );
  const { startTime, closeTime } = await env.client.workflow.getHandle(workflowId).describe();
  return {
    result,
    sent,
    hours: (closeTime!.getTime() - startTime.getTime()) / HOUR_MS,
    record: await stores.callbacks.get(task.task_id),
    untold: await activities.findUntoldCallbacks(),
  };
}

describe('deliverCallback', () => {
  it('is tried again until the receiver takes it', async () => {
    const { result, sent, record } = await deliver([503, new Error('hung up'), 503, 204]);
    expect(result).toEqual({ delivered: true });
    expect(sent).toBe(4);
    expect(record).toMatchObject({ state: 'delivered', attempts: 4, last_status: 204 });
  });

  it('gives up at once where its address is not allowed, so that no sweep sends it again', async () => {
    const refused = new AppError('CALLBACK_REFUSED', 'a private address');
    const { result, sent, record, untold, hours } = await deliver([refused]);
    expect(result).toEqual({ delivered: false });
    expect(sent).toBe(1);
    expect(record).toMatchObject({ state: 'failed', attempts: 1, last_error: 'a private address' });
    expect(untold).toEqual([]);
    expect(hours).toBeLessThan(1);
  });

  it('gives up after a day, with the last reason in its record', async () => {
    const { result, sent, record, untold, hours } = await deliver([503]);
    expect(result).toEqual({ delivered: false });
    // Every quarter of an hour, but for the first ones.
    expect(sent).toBeGreaterThan(90);
    expect(hours).toBeGreaterThan(23.5);
    expect(hours).toBeLessThan(24.5);
    expect(record).toMatchObject({ state: 'failed', attempts: sent, last_status: 503 });
    expect(untold).toEqual([]);
  });
});
