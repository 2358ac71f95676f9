import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ApplicationFailure } from '@temporalio/common';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { Worker } from '@temporalio/worker';
import type { WorkflowHandleWithFirstExecutionRunId } from '@temporalio/client';
import { taskQueues } from '../../schemas/task-queues.js';
import type { OperatorChoice, UpkeepView } from '../../workflows/run-upkeep.js';
import { createScriptedForwarding } from '../support/scripted-forwarding.js';
import { scriptedActivities } from '../support/scripted-activities.js';
import { createScriptedUpkeep } from '../support/scripted-upkeep.js';
import { until } from '../support/until.js';
import { timeSkippingEnvironment, workflowBundle } from '../support/workflow-environment.js';

const MINUTE = 60_000;
let env: TestWorkflowEnvironment;
let serial = 0;

// A server for each test: after a workflow that was terminated in a step its clock stood still for the next test.
beforeEach(async () => {
  env = await timeSkippingEnvironment();
}, 60_000);
afterEach(async () => {
  await env.teardown();
});

interface Stage {
  handle: WorkflowHandleWithFirstExecutionRunId;
  view(): Promise<UpkeepView>;
  /** Lets so much time pass on the test server's clock. */
  pass(ms: number): Promise<void>;
}

/** Runs an upkeep workflow with real sweeps and scripted activities until the test has seen enough. */
async function onStage(
  workflow: 'upkeepDocuments' | 'upkeepSignals',
  activities: object,
  use: (stage: Stage) => Promise<void>,
  input: object = {},
): Promise<void> {
  const prefix = `upkeep-${(serial += 1)}-`;
  const queues = taskQueues(prefix);
  const taskQueue = workflow === 'upkeepDocuments' ? queues.documents : queues.alerts;
  const worker = await Worker.create({
    connection: env.nativeConnection,
    taskQueue,
    activities,
    workflowBundle: await workflowBundle(),
  });
  await worker.runUntil(async () => {
    const handle = await env.client.workflow.start(workflow, {
      workflowId: `${prefix}${workflow}`,
      taskQueue,
      args: [{ prefix, everyMs: 30_000, timeoutMs: 3_600_000, ...input }],
    });
    await use({
      handle,
      view: () => env.client.workflow.getHandle(handle.workflowId).query<UpkeepView>('upkeepStatus'),
      pass: (ms) => env.sleep(ms),
    });
    await env.client.workflow.getHandle(handle.workflowId).terminate('the test is over');
  });
}

describe('upkeepDocuments', () => {
  const counted = (names: () => string[]) => names().filter((name) => name === 'findUnstarted').length;

  it('sweeps every interval, in one open workflow', async () => {
    const { activities, names } = scriptedActivities();
    await onStage('upkeepDocuments', activities, async ({ handle, pass }) => {
      await pass(10 * MINUTE);
      await until('twenty turns', async () => counted(names) >= 20);
      expect(counted(names)).toBeLessThanOrEqual(22);
      const { status } = await env.client.workflow.getHandle(handle.workflowId).describe();
      expect(status.name).toBe('RUNNING');
    });
  });

  it('goes on after a turn that failed, and says what it failed with', async () => {
    let broken = true;
    const { activities, names } = scriptedActivities({
      findUnstarted: async () => {
        if (!broken) return [];
        throw ApplicationFailure.nonRetryable('a fault of ours');
      },
    });
    await onStage('upkeepDocuments', activities, async ({ view, pass }) => {
      await pass(2 * MINUTE);
      await until('some turns', async () => counted(names) >= 3);
      expect((await view()).failures).toEqual({ sweep: expect.any(String) });
      broken = false;
      await pass(MINUTE);
      await until('it is mended', async () => Object.keys((await view()).failures).length === 0);
    });
  });

  it('takes the configuration of a worker that starts, and sweeps at once', async () => {
    const { activities, names } = scriptedActivities();
    await onStage('upkeepDocuments', activities, async ({ handle, view, pass }) => {
      await until('the first turn', async () => counted(names) === 1);
      await handle.signal('configure', { everyMs: 10 * MINUTE, timeoutMs: 1 });
      await until('the second turn', async () => counted(names) === 2);
      expect((await view()).everyMs).toBe(10 * MINUTE);
      await pass(9 * MINUTE);
      expect(counted(names)).toBe(2);
      await pass(2 * MINUTE);
      await until('the third turn', async () => counted(names) === 3);
    });
  });

  it('stays paused and keeps an interval that an operator chose, through workers and runs', async () => {
    const { activities, names } = scriptedActivities();
    await onStage(
      'upkeepDocuments',
      activities,
      async ({ handle, view, pass }) => {
        await until('the first turn', async () => counted(names) === 1);
        const { workflowId } = handle;
        const present = env.client.workflow.getHandle(workflowId);
        await present.signal('interval', 600);
        await present.signal('pause');
        await until('paused', async () => (await view()).paused);
        const before = counted(names);
        for (let worker = 0; worker < 5; worker += 1) await present.signal('configure', { everyMs: 1000 });
        await pass(60 * MINUTE);
        const { runId } = await present.describe();
        expect(runId).not.toBe(handle.firstExecutionRunId);
        expect([counted(names), await view()]).toMatchObject([before, { paused: true, everyMs: 600_000 }]);
        await present.signal('resume');
        await until('it sweeps again', async () => counted(names) === before + 1);
        await present.signal('interval', null);
        await until('the configured interval', async () => (await view()).everyMs === 1000);
      },
      { stepsPerRun: 4, operator: { paused: false, everySeconds: null } satisfies OperatorChoice },
    );
  });
});

describe('upkeepSignals', () => {
  it('counts once a minute, and goes on at the next turn while more is left', async () => {
    const fixture = createScriptedForwarding(() => env.currentTimeMs());
    let rounds = 0;
    const { activities, calls } = createScriptedUpkeep({
      countHours: async () => ({ counted: 1, left: (rounds += 1) < 14 }),
    });
    await onStage('upkeepSignals', { ...fixture.activities, ...activities }, async ({ pass }) => {
      const counts = () => calls.filter(({ name }) => name === 'countHours').length;
      await until('the first turn', async () => counts() === 10);
      await pass(40_000);
      await until('the second turn', async () => counts() === 14);
      await pass(5 * MINUTE);
      await until('once a minute', async () => counts() >= 18);
      expect(counts()).toBeLessThanOrEqual(20);
    });
  });

  it('hands over what nobody told of', async () => {
    const fixture = createScriptedForwarding(() => env.currentTimeMs());
    fixture.add(3);
    const activities = { ...fixture.activities, ...createScriptedUpkeep().activities };
    await onStage('upkeepSignals', activities, async () => {
      await until('sent', async () => fixture.accepted.length === 3);
    });
  });
});
