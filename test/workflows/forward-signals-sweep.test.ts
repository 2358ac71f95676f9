import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { Worker } from '@temporalio/worker';
import { forwardWorkflowId } from '../../schemas/ids.js';
import { taskQueues } from '../../schemas/task-queues.js';
import type { ForwardingView, forwardSignals } from '../../workflows/signals/forward-signals.js';
import type { sweepForwarding } from '../../workflows/signals/sweep-forwarding.js';
import { createScriptedForwarding, ok } from '../support/scripted-forwarding.js';
import type { ScriptedForwarding } from '../support/scripted-forwarding.js';
import { until } from '../support/until.js';
import { timeSkippingEnvironment, workflowBundle } from '../support/workflow-environment.js';

let env: TestWorkflowEnvironment;
let serial = 0;

beforeAll(async () => {
  env = await timeSkippingEnvironment();
}, 60_000);
afterAll(async () => {
  await env.teardown();
});

async function withWorker(
  use: (fixture: ScriptedForwarding, prefix: string, taskQueue: string) => Promise<void>,
): Promise<void> {
  const prefix = `sweep-forwarding-${(serial += 1)}-`;
  const fixture = createScriptedForwarding(() => env.currentTimeMs());
  const taskQueue = taskQueues(prefix).alerts;
  const worker = await Worker.create({
    connection: env.nativeConnection,
    taskQueue,
    activities: fixture.activities,
    workflowBundle: await workflowBundle(),
  });
  await worker.runUntil(() => use(fixture, prefix, taskQueue));
}

function sweep(prefix: string, taskQueue: string) {
  return env.client.workflow.execute<typeof sweepForwarding>('sweepForwarding', {
    workflowId: `${prefix}sweep-${(serial += 1)}`,
    taskQueue,
    args: [{ prefix }],
  });
}

describe('sweepForwarding', () => {
  it('tells an actor that runs already', async () => {
    await withWorker(async (fixture, prefix, taskQueue) => {
      fixture.tokens.length = 0;
      fixture.add(2);
      const actor = await env.client.workflow.start<typeof forwardSignals>('forwardSignals', {
        workflowId: forwardWorkflowId(prefix, 'lapi'),
        taskQueue,
        args: [{ prefix, watcher: 'lapi' }],
      });
      await until('holding', async () => fixture.errors.length === 1);
      expect(await sweep(prefix, taskQueue)).toEqual({ started: 0, woken: 1 });
      const { untilToken } = (await actor.query<ForwardingView>('forwardingStatus')).hold!;
      expect([untilToken, fixture.errors.length]).toEqual([true, 1]);
      fixture.tokens.push('token-1');
      await actor.signal('wake');
      await until('sent', async () => fixture.accepted.length === 2);
      await actor.result();
    });
  });

  it('cuts the back-off of actors short when CAPI takes signals of others, each once for a hold', async () => {
    await withWorker(async (fixture, prefix, taskQueue) => {
      fixture.add(2);
      let up = false;
      fixture.answer(() => (up ? ok : { outcome: 'unreachable', message: 'ECONNREFUSED' }));
      // Far into an outage: the next attempt is minutes away.
      const state = { work: [], failures: 12, hold: null, forwarded: 0, quarantined: 0 };
      const actor = await env.client.workflow.start<typeof forwardSignals>('forwardSignals', {
        workflowId: forwardWorkflowId(prefix, 'lapi'),
        taskQueue,
        args: [{ prefix, watcher: 'lapi', state }],
      });
      await until('holding', async () => fixture.errors.length === 1);
      const from = await env.currentTimeMs();
      up = true;
      fixture.needlesslyHeld.push('lapi', 'a watcher without an actor');
      expect((await sweep(prefix, taskQueue)).woken).toBeGreaterThan(0);
      await until('sent', async () => fixture.accepted.length === 2);
      expect(fixture.offers[1]!.atMs - from).toBeLessThan(20_000);
      await actor.result();
    });
  });

  it('has nothing to do when nothing waits', async () => {
    await withWorker(async (_fixture, prefix, taskQueue) => {
      expect(await sweep(prefix, taskQueue)).toEqual({ started: 0, woken: 0 });
    });
  });

  // Last: after an abandoned child the test server's clock stood still for the tests that followed.
  it('starts the actors of what was stored and not handed over, whatever a watcher is called', async () => {
    await withWorker(async (fixture, prefix, taskQueue) => {
      fixture.add(2, { watcher: 'a/b c' });
      fixture.add(2, { watcher: 'hash:é' });
      expect(await sweep(prefix, taskQueue)).toEqual({ started: 2, woken: 0 });
      await until('sent', async () => fixture.ids('forwarded').length === 4);
    });
  });
});
