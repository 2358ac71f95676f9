import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { Worker } from '@temporalio/worker';
import { createMigrationActivities } from '../../activities/migrations/migration-activities.js';
import type { Migration, MigrationSlice } from '../../activities/ports/migrations.js';
import { AppError } from '../../schemas/app-error.js';
import { migrationWorkflowId } from '../../schemas/ids.js';
import type { MigrationPosition } from '../../schemas/migrations/migrations.js';
import { taskQueues } from '../../schemas/task-queues.js';
import { createActivityInterceptors } from '../../workers/activity-interceptor.js';
import type { MigrateInput, migrate } from '../../workflows/migrations/migrate.js';
import type { openMigrationWindow } from '../../workflows/migrations/open-migration-window.js';
import { createFakeMigrationStore } from '../support/fakes/migrations/fake-migration-store.js';
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

interface Counted extends MigrationPosition {
  at: number;
}

/** Counts to `total`, one in each slice; a test holds it, makes it fail, and sees what it did. */
function countingMigration(total: number) {
  const state = {
    /** What was begun, and what was done. */
    begun: [] as number[],
    slices: [] as number[],
    abandoned: [] as (MigrationPosition | null)[],
    failures: [] as Error[],
    /** A slice waits while this is at most its number. */
    holdFrom: Infinity,
    /** From here on it cannot be cancelled. */
    lockedFrom: Infinity,
    pending: true,
  };
  const migration: Migration = {
    name: 'records',
    title: 'counts',
    unit: 'records',
    modes: ['run'],
    pending: async () => (state.pending ? { what: 'count', amount: total, dark: [], obstacle: null } : null),
    async slice(_mode, position, control): Promise<MigrationSlice> {
      const at = (position as Counted | null)?.at ?? 0;
      state.begun.push(at);
      await until('the slice may go on', async () => at < state.holdFrom || control.signal.aborted);
      control.signal.throwIfAborted();
      const failure = state.failures.shift();
      if (failure !== undefined) throw failure;
      state.slices.push(at);
      const next = at + 1;
      return {
        position: { phase: 'counting', at: next },
        ended: next >= total,
        cancellable: next < state.lockedFrom,
        done: next,
        total,
        figures: { counted: next },
      };
    },
    async abandon(_mode, position) {
      state.abandoned.push(position);
    },
  };
  return { state, migration };
}

async function stage<T>(
  { migration }: ReturnType<typeof countingMigration>,
  use: (given: {
    store: ReturnType<typeof createFakeMigrationStore>;
    input: MigrateInput;
    taskQueue: string;
    start(more?: Partial<MigrateInput>): ReturnType<TestWorkflowEnvironment['client']['workflow']['start']>;
  }) => Promise<T>,
): Promise<T> {
  const prefix = `migrate-${(serial += 1)}-`;
  const taskQueue = taskQueues(prefix).migrations;
  const store = createFakeMigrationStore();
  const worker = await Worker.create({
    connection: env.nativeConnection,
    taskQueue,
    workflowBundle: await workflowBundle(),
    activities: createMigrationActivities({ store, migrations: [migration] }),
    interceptors: {
      activity: [
        createActivityInterceptors(
          () => undefined,
          () => undefined,
          null,
        ),
      ],
    },
    maxHeartbeatThrottleInterval: 50,
  });
  const input: MigrateInput = {
    prefix,
    runId: `run-${serial}`,
    name: 'records',
    mode: 'run',
    unit: 'records',
    pagesPerSecond: null,
    startedBy: '1',
  };
  const start = (more: Partial<MigrateInput> = {}) =>
    env.client.workflow.start<typeof migrate>('migrate', {
      workflowId: migrationWorkflowId(prefix, 'records'),
      taskQueue,
      args: [{ ...input, ...more }],
    });
  return worker.runUntil(() => use({ store, input, taskQueue, start }));
}

describe('migrate', () => {
  it('goes from slice to slice and writes down how far it is', async () => {
    const counting = countingMigration(3);
    await stage(counting, async ({ store, input, start }) => {
      const run = await start();
      expect(await run.result()).toEqual({ done: 3, figures: { counted: 3 } });
      expect(counting.state.slices).toEqual([0, 1, 2]);
      expect(await store.get(input.runId)).toMatchObject({
        state: 'completed',
        done: 3,
        total: 3,
        phase: 'counting',
        figures: { counted: 3 },
      });
      expect(await run.query('progress')).toMatchObject({ paused: false, last: { done: 3 } });
    });
  });

  it('tries an engine that is away again, and ends with the reason for what cannot be done', async () => {
    const counting = countingMigration(2);
    counting.state.failures = [
      new AppError('VDB_CONNECTION_ERROR'),
      new AppError('VDB_CONNECTION_ERROR'),
      new AppError('MIGRATION_NOT_POSSIBLE', 'No embedder is marked.'),
    ];
    await stage(counting, async ({ store, input, start }) => {
      await expect((await start()).result()).rejects.toThrow();
      expect(await store.get(input.runId)).toMatchObject({
        state: 'failed',
        error: { code: 'MIGRATION_NOT_POSSIBLE', message: 'No embedder is marked.' },
      });
      expect(counting.state.abandoned).toEqual([null]);
    });
  });

  it('waits while it is paused, and goes on where it was', async () => {
    const counting = countingMigration(4);
    counting.state.holdFrom = 2;
    await stage(counting, async ({ store, input, start }) => {
      const run = await start();
      await until('it has begun', async () => counting.state.slices.length === 2);
      await run.signal('pause');
      counting.state.holdFrom = 3;
      await until('it is paused', async () => (await store.get(input.runId))?.state === 'paused');
      expect(counting.state.slices).toEqual([0, 1, 2]);
      counting.state.holdFrom = Infinity;
      await run.signal('resume');
      await run.result();
      expect(counting.state.slices).toEqual([0, 1, 2, 3]);
      expect((await store.get(input.runId))?.state).toBe('completed');
    });
  });

  it('is given up where that is safe, and cleans up', async () => {
    const counting = countingMigration(4);
    counting.state.holdFrom = 2;
    await stage(counting, async ({ store, input, start }) => {
      const run = await start();
      await until('it waits in the third slice', async () => counting.state.begun.includes(2));
      await run.cancel();
      await expect(run.result()).rejects.toThrow();
      expect((await store.get(input.runId))?.state).toBe('cancelled');
      expect(counting.state.abandoned).toEqual([{ phase: 'counting', at: 2 }]);
    });
  });

  it('ends as it would once it cannot be given up any more', async () => {
    const counting = countingMigration(3);
    Object.assign(counting.state, { holdFrom: 2, lockedFrom: 2 });
    await stage(counting, async ({ store, input, start }) => {
      const run = await start();
      await until('it waits in the third slice', async () => counting.state.begun.includes(2));
      await run.cancel();
      counting.state.holdFrom = Infinity;
      expect(await run.result()).toMatchObject({ done: 3 });
      expect((await store.get(input.runId))?.state).toBe('completed');
    });
  });
});

/** Long enough for the first slice, short enough to be waited for. */
const WINDOW_MS = 1_500;

describe('openMigrationWindow', () => {
  const open = (prefix: string, taskQueue: string, windowMs: number) =>
    env.client.workflow.execute<typeof openMigrationWindow>('openMigrationWindow', {
      workflowId: `${prefix}window-${Math.random()}`,
      taskQueue,
      args: [{ prefix, name: 'records', unit: 'records', windowMs, pagesPerSecond: null }],
    });

  it('starts a run that stops at the end of the window and goes on in the next', async () => {
    const counting = countingMigration(3);
    counting.state.holdFrom = 1;
    await stage(counting, async ({ store, input, taskQueue }) => {
      const { prefix } = input;
      const began = Date.now();
      expect(await open(prefix, taskQueue, WINDOW_MS)).toBe('started');
      await until('it has begun', async () => counting.state.slices.length === 1);
      await until('the window is over', async () => Date.now() > began + 2 * WINDOW_MS);
      counting.state.holdFrom = 2;
      const latest = async () => (await store.list('records', 1))[0];
      await until('it waits for the next window', async () => (await latest())?.state === 'paused');
      expect(counting.state.slices).toEqual([0, 1]);
      counting.state.holdFrom = Infinity;
      await env.sleep('23 hours');
      expect(counting.state.slices).toEqual([0, 1]);
      expect(await open(prefix, taskQueue, 3_600_000)).toBe('continued');
      await env.client.workflow.getHandle(migrationWorkflowId(prefix, 'records')).result();
      expect(counting.state.slices).toEqual([0, 1, 2]);
      expect(await latest()).toMatchObject({ state: 'completed', started_by: 'schedule' });
      counting.state.pending = false;
      expect(await open(prefix, taskQueue, 3_600_000)).toBe('nothing to do');
    });
  });

  it.each([
    ['was started by hand', {}],
    ['a person let go on beyond its window', { windowEndsAt: 1 }],
  ])('leaves a run alone that %s', async (_which, more) => {
    const counting = countingMigration(3);
    counting.state.holdFrom = 1;
    await stage(counting, async ({ store, input, taskQueue, start }) => {
      const run = await start(more);
      const stateOf = async () => (await store.get(input.runId))?.state;
      if ('windowEndsAt' in more) {
        await until('it waits for a window', async () => (await stateOf()) === 'paused');
        await run.signal('resume');
      }
      await until('it is at work', async () => counting.state.begun.includes(1));
      expect(await open(input.prefix, taskQueue, 3_600_000)).toBe('continued');
      expect(await run.query('progress')).toMatchObject({ windowEndsAt: null });
      // One that is over by now would hold it here.
      await run.signal('window', 1);
      counting.state.holdFrom = Infinity;
      await until('it has ended, or waits', async () => (await stateOf()) !== 'running');
      expect(await stateOf()).toBe('completed');
    });
  });
});
