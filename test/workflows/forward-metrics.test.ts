import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { Worker } from '@temporalio/worker';
import { metricsWorkflowId } from '../../schemas/ids.js';
import { taskQueues } from '../../schemas/task-queues.js';
import type { MetricsState, forwardMetrics } from '../../workflows/signals/forward-metrics.js';
import { createScriptedForwarding, ok, refusal } from '../support/scripted-forwarding.js';
import type { ScriptedForwarding } from '../support/scripted-forwarding.js';
import { until } from '../support/until.js';
import { timeSkippingEnvironment, workflowBundle } from '../support/workflow-environment.js';

const MINUTE = 60_000;
let env: TestWorkflowEnvironment;
let serial = 0;

beforeAll(async () => {
  env = await timeSkippingEnvironment();
}, 60_000);
afterAll(() => env?.teardown());

function hold(fixture: ScriptedForwarding, texts: string[], part = false): Promise<unknown> {
  return fixture.metrics.hold(
    'lapi',
    texts.map((text) => ({ path: 'v3/usage-metrics', bytes: gzipSync(text), part })),
    new Date(),
  );
}

async function run(
  fixture: ScriptedForwarding,
  input: { stepsPerRun?: number } = {},
  use: (actor: WorkflowHandle<typeof forwardMetrics>) => Promise<void> = async () => undefined,
) {
  const prefix = `metrics-${(serial += 1)}-`;
  const taskQueue = taskQueues(prefix).alerts;
  const worker = await Worker.create({
    connection: env.nativeConnection,
    taskQueue,
    workflowBundle: await workflowBundle(),
    activities: fixture.activities,
    maxHeartbeatThrottleInterval: 100,
  });
  return worker.runUntil(async () => {
    const actor = await env.client.workflow.start<typeof forwardMetrics>('forwardMetrics', {
      workflowId: metricsWorkflowId(prefix, 'lapi'),
      taskQueue,
      args: [{ prefix, watcher: 'lapi', ...input }],
    });
    await use(actor);
    return actor.result();
  });
}

function fixture() {
  return createScriptedForwarding(() => env.currentTimeMs());
}

describe('forwardMetrics', () => {
  it('sends what is held in order once CAPI is back, and ends', async () => {
    const at = fixture();
    await hold(at, ['{"a":1}', '{"a":2}']);
    at.answer(({ number }) => (number < 4 ? refusal(503) : ok));
    expect(await run(at)).toMatchObject({ sent: 2, refused: 0, hold: null });
    expect(at.metricsSent.map(({ body }) => body)).toEqual([...Array(4).fill('{"a":1}'), '{"a":2}']);
    expect(await at.metrics.queues()).toEqual([]);
  }, 60_000);

  it('sends parts a minute apart, also over several runs', async () => {
    const at = fixture();
    await hold(at, ['{"a":1}', '{"a":2}', '{"a":3}'], true);
    await run(at, { stepsPerRun: 1 });
    const [first, second, third] = at.metricsSent.map(({ atMs }) => atMs);
    expect(second! - first!).toBeGreaterThanOrEqual(MINUTE);
    expect(third! - second!).toBeGreaterThanOrEqual(MINUTE);
  }, 60_000);

  it('takes 422 for delivered, steps over what is refused for good, and never uses a refused token', async () => {
    const at = fixture();
    await hold(at, ['{"a":1}', '{"a":2}', '{"a":3}']);
    at.tokens.push('token-2');
    at.answer(({ number, token }) => {
      if (number === 1) return refusal(422);
      if (number === 2) return refusal(400);
      if (token === 'token-2') {
        at.tokens.push('token-3');
        return refusal(401);
      }
      return ok;
    });
    expect(await run(at)).toMatchObject({ sent: 2, refused: 1 });
    expect(at.metricsSent.map(({ token }) => token)).toEqual(['token-2', 'token-2', 'token-2', 'token-3']);
    expect(await at.metrics.queues()).toMatchObject([{ held: 0, refused: 1 }]);
  }, 60_000);

  it('offers at once what CAPI put off when an operator says so', async () => {
    const at = fixture();
    await hold(at, ['{"a":1}']);
    at.answer(({ number }) => (number === 1 ? refusal(403) : ok));
    await run(at, {}, async (actor) => {
      await until(
        'CAPI has put it off',
        async () => (await actor.query<MetricsState>('metricsStatus')).hold !== null,
      );
      await actor.signal('retry');
    });
    const [first, second] = at.metricsSent.map(({ atMs }) => atMs);
    expect(second! - first!).toBeLessThan(30 * MINUTE);
  }, 60_000);
});
