import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ApplicationFailure } from '@temporalio/common';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { Worker } from '@temporalio/worker';
import { createAlertUpkeepActivities } from '../../activities/signals/alert-upkeep-activities.js';
import type { AlertUpkeepActivities } from '../../activities/signals/alert-upkeep-activities.js';
import { taskQueues } from '../../schemas/task-queues.js';
import type { countAlerts } from '../../workflows/signals/count-alerts.js';
import type { retainQuarantine } from '../../workflows/signals/retain-quarantine.js';
import type { retainAlerts } from '../../workflows/signals/retain-alerts.js';
import { sampleAlert } from '../contracts/signals/alert-store-samples.js';
import { createFakeAlertStore } from '../support/fakes/signals/fake-alert-store.js';
import { createFakeStatisticsStore } from '../support/fakes/signals/fake-statistics-store.js';
import { createScriptedUpkeep } from '../support/scripted-upkeep.js';
import { timeSkippingEnvironment, workflowBundle } from '../support/workflow-environment.js';

const DAY_MS = 86_400_000;

let env: TestWorkflowEnvironment;
let serial = 0;

beforeAll(async () => {
  env = await timeSkippingEnvironment();
}, 60_000);
afterAll(async () => {
  await env.teardown();
});

async function withWorker<T>(
  activities: AlertUpkeepActivities,
  use: (prefix: string, taskQueue: string) => Promise<T>,
): Promise<T> {
  const prefix = `upkeep-${(serial += 1)}-`;
  const taskQueue = taskQueues(prefix).alerts;
  const worker = await Worker.create({
    connection: env.nativeConnection,
    taskQueue,
    activities,
    workflowBundle: await workflowBundle(),
  });
  return worker.runUntil(() => use(prefix, taskQueue));
}

function retain(prefix: string, taskQueue: string) {
  return env.client.workflow.execute<typeof retainAlerts>('retainAlerts', {
    workflowId: `${prefix}retain`,
    taskQueue,
    args: [{ prefix, retentionDays: 30 }],
  });
}

describe('retainAlerts', () => {
  it('removes batch after batch up to one border, then counts and forgets', async () => {
    const { activities, calls } = createScriptedUpkeep();
    const began = await env.currentTimeMs();
    expect(await withWorker(activities, retain)).toEqual({ removed: 200 });
    expect(calls.map(({ name }) => name)).toEqual([
      'removeOldAlerts',
      'removeOldAlerts',
      'removeOldAlerts',
      'countHours',
      'countHours',
      'forgetHours',
    ]);
    const borders = new Set(calls.flatMap(({ args }) => args));
    expect(borders.size).toBe(1);
    const [border] = [...borders] as [number];
    expect(border).toBeGreaterThanOrEqual(began - 30 * DAY_MS - 1000);
    expect(border).toBeLessThanOrEqual((await env.currentTimeMs()) - 30 * DAY_MS);
  });

  it('goes on from the same border after the store was away for hours', async () => {
    let down = 0;
    const { activities, calls } = createScriptedUpkeep({
      removeOldAlerts: async () => {
        down += 1;
        if (down < 400) throw ApplicationFailure.retryable('away', 'SERVICE_UNAVAILABLE');
        return { removed: down === 400 ? 7 : 0, left: down === 400 };
      },
    });
    const began = await env.currentTimeMs();
    expect(await withWorker(activities, retain)).toEqual({ removed: 7 });
    expect((await env.currentTimeMs()) - began).toBeGreaterThan(3 * 3_600_000);
    expect(new Set(calls.flatMap(({ args }) => args)).size).toBe(1);
  }, 60_000);

  it('counts nothing when there was nothing to remove', async () => {
    const { activities, calls } = createScriptedUpkeep({
      removeOldAlerts: async () => ({ removed: 0, left: false }),
    });
    expect(await withWorker(activities, retain)).toEqual({ removed: 0 });
    expect(calls).toHaveLength(1);
  });

  it('with its real hands takes what is old, and leaves what waits', async () => {
    const alerts = createFakeAlertStore();
    const now = await env.currentTimeMs();
    const daysAgo = (days: number) => new Date(now - days * DAY_MS);
    await alerts.insert([
      sampleAlert({ receivedAt: daysAgo(31), state: 'filtered' }),
      sampleAlert({ receivedAt: daysAgo(31), state: 'withheld' }),
      sampleAlert({ receivedAt: daysAgo(90), state: 'waiting' }),
      sampleAlert({ receivedAt: daysAgo(90), state: 'quarantined' }),
      sampleAlert({ receivedAt: daysAgo(29), state: 'filtered' }),
      sampleAlert({ receivedAt: daysAgo(45) }),
    ]);
    await alerts.markForwarded([6], daysAgo(44));
    const activities = createAlertUpkeepActivities({ alerts, statistics: createFakeStatisticsStore(alerts) });
    expect(await withWorker(activities, retain)).toEqual({ removed: 3 });
    const kept = await alerts.list({ limit: 10, offset: 0 });
    expect(kept.map(({ id }) => id).sort()).toEqual([3, 4, 5]);
  });
});

describe('retainAlerts with a time for the quarantine', () => {
  it('gives up what is there for longer, and removes it where it is old enough', async () => {
    const alerts = createFakeAlertStore();
    const now = await env.currentTimeMs();
    const daysAgo = (days: number) => new Date(now - days * DAY_MS);
    await alerts.insert(
      [8, 40, 6].map((days) => sampleAlert({ receivedAt: daysAgo(days), state: 'quarantined' })),
    );
    const activities = createAlertUpkeepActivities({ alerts, statistics: createFakeStatisticsStore(alerts) });
    const run = (prefix: string, taskQueue: string) =>
      env.client.workflow.execute<typeof retainAlerts>('retainAlerts', {
        workflowId: `${prefix}retain`,
        taskQueue,
        args: [{ prefix, retentionDays: 30, quarantineDays: 7 }],
      });
    expect(await withWorker(activities, run)).toEqual({ removed: 1 });
    const kept = await alerts.list({ limit: 10, offset: 0 });
    expect(kept.map(({ id }) => id).sort()).toEqual([1, 3]);
    expect((await alerts.quarantined({ limit: 9, offset: 0 })).map(({ id }) => id)).toEqual([3]);
  });
});

describe('retainQuarantine', () => {
  it('gives up what is there for longer, and removes nothing', async () => {
    const alerts = createFakeAlertStore();
    const now = await env.currentTimeMs();
    const daysAgo = (days: number) => new Date(now - days * DAY_MS);
    await alerts.insert(
      [8, 40, 6].map((days) => sampleAlert({ receivedAt: daysAgo(days), state: 'quarantined' })),
    );
    const activities = createAlertUpkeepActivities({ alerts, statistics: createFakeStatisticsStore(alerts) });
    const run = (prefix: string, taskQueue: string) =>
      env.client.workflow.execute<typeof retainQuarantine>('retainQuarantine', {
        workflowId: `${prefix}quarantine`,
        taskQueue,
        args: [{ prefix, quarantineDays: 7 }],
      });
    expect(await withWorker(activities, run)).toEqual({ discarded: 2 });
    expect(await alerts.list({ limit: 10, offset: 0 })).toHaveLength(3);
    expect((await alerts.quarantined({ limit: 9, offset: 0 })).map(({ id }) => id)).toEqual([3]);
  });
});

describe('countAlerts', () => {
  const count = (prefix: string, taskQueue: string) =>
    env.client.workflow.execute<typeof countAlerts>('countAlerts', {
      workflowId: `${prefix}count`,
      taskQueue,
      args: [{ prefix }],
    });

  it('goes on until nothing is left', async () => {
    const { activities, calls } = createScriptedUpkeep();
    expect(await withWorker(activities, count)).toEqual({ counted: 20 });
    expect(calls).toHaveLength(2);
  });

  it('leaves the rest to the next run when there is always more', async () => {
    const { activities } = createScriptedUpkeep({ countHours: async () => ({ counted: 1, left: true }) });
    expect(await withWorker(activities, count)).toEqual({ counted: 100 });
  }, 60_000);
});
