import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { Worker } from '@temporalio/worker';
import { Context } from '@temporalio/activity';
import { createImportActivities } from '../../activities/imports/import-activities.js';
import type { ImportSliceInput } from '../../activities/imports/import-activities.js';
import type { ImportPosition } from '../../activities/imports/import-slice.js';
import { AppError } from '../../schemas/app-error.js';
import { dispatchWorkflowId, importWorkflowId } from '../../schemas/ids.js';
import { taskQueues } from '../../schemas/task-queues.js';
import { createActivityInterceptors } from '../../workers/activity-interceptor.js';
import type { ImportServiceInput, importService } from '../../workflows/imports/import-service.js';
import { createFakeImportStore } from '../support/fakes/imports/fake-import-store.js';
import { scriptedActivities } from '../support/scripted-activities.js';
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

function positionAt(done: number, total: number): ImportPosition {
  const phase = done === total ? 'done' : 'files';
  return {
    phase,
    partition: 'shelf',
    after: `file-${done}`,
    done,
    total,
    figures: { taken: done },
    waitMs: 0,
  };
}

/** The plan over the real records; slices count to `total`, one file each, and a test holds them or makes them fail. */
async function stage(
  total: number,
  use: (given: Awaited<ReturnType<typeof openStage>>) => Promise<void>,
): Promise<void> {
  const given = await openStage(total);
  await given.plans.runUntil(given.dispatcher.runUntil(() => use(given)));
}

async function openStage(total: number) {
  const prefix = `import-${(serial += 1)}-`;
  const queues = taskQueues(prefix);
  const imports = createFakeImportStore();
  const state = {
    asked: [] as ImportSliceInput[],
    failures: [] as Error[],
    /** A slice waits while this is at most its number. */
    holdFrom: Infinity,
    /** Behind this slice files wait for their turn. */
    admittedAt: -1,
    /** Before the next slice. */
    waitMs: 0,
  };
  const real = createImportActivities({ adapters: { imports } as never, config: {} as never, log: console });
  const runImportSlice = async (input: ImportSliceInput) => {
    state.asked.push(input);
    const at = input.position?.done ?? 0;
    const { cancellationSignal: signal } = Context.current();
    await until('the slice may go on', async () => at < state.holdFrom || signal.aborted);
    signal.throwIfAborted();
    const failure = state.failures.shift();
    if (failure !== undefined) throw failure;
    const reached = positionAt(at + 1, total);
    const position = reached.phase === 'done' ? reached : { ...reached, waitMs: state.waitMs };
    return { position, admitted: at === state.admittedAt };
  };
  const common = {
    connection: env.nativeConnection,
    workflowBundle: await workflowBundle(),
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
  };
  const plans = await Worker.create({
    ...common,
    taskQueue: queues.migrations,
    activities: { ...real, runImportSlice },
  });
  const documents = scriptedActivities();
  const dispatcher = await Worker.create({
    ...common,
    taskQueue: queues.documents,
    activities: documents.activities,
  });
  const input: ImportServiceInput = {
    prefix,
    runId: `run-${serial}`,
    sourceId: 'old',
    dryRun: false,
    requestsPerSecond: 20,
    startedBy: '1',
    timeoutMs: 3_600_000,
  };
  const start = (more: Partial<ImportServiceInput> = {}) =>
    env.client.workflow.start<typeof importService>('importService', {
      workflowId: importWorkflowId(prefix, 'old'),
      taskQueue: queues.migrations,
      args: [{ ...input, ...more }],
    });
  const recordOf = () => imports.getRun(input.runId);
  const numbers = () => state.asked.map(({ position }) => position?.done ?? 0);
  return { prefix, input, imports, state, plans, dispatcher, documents, start, recordOf, numbers };
}

describe('importService', () => {
  it('goes from slice to slice, each from where the one before ended', async () => {
    await stage(3, async ({ state, start, recordOf, numbers, documents, input }) => {
      const run = await start();
      expect(await run.result()).toEqual({ taken: 3 });
      expect(numbers()).toEqual([0, 1, 2]);
      const { runId, sourceId, dryRun, requestsPerSecond, startedBy } = input;
      const order = { runId, sourceId, dryRun, requestsPerSecond, startedBy };
      expect(state.asked[1]).toEqual({ ...order, position: positionAt(1, 3) });
      expect(await recordOf()).toMatchObject({ source_id: 'old', state: 'completed', error: null });
      expect(await run.query('progress')).toEqual({ paused: false, position: positionAt(3, 3) });
      expect(documents.names()).toEqual([]);
    });
  });

  it('waits as long as a slice says, before the next', async () => {
    await stage(3, async ({ state, start }) => {
      state.waitMs = 3_600_000;
      const began = await env.currentTimeMs();
      await (await start()).result();
      expect((await env.currentTimeMs()) - began).toBeGreaterThanOrEqual(2 * 3_600_000);
    });
  });

  it('tells the dispatcher of what it admitted, and goes on where one runs already', async () => {
    await stage(3, async ({ prefix, state, start, documents }) => {
      state.admittedAt = 1;
      await (await start()).result();
      expect(await ended(env.client, dispatchWorkflowId(prefix))).toBe('COMPLETED');
      expect(documents.names()).toEqual(['nextTurns']);
      const running = await env.client.workflow.start('dispatchDocuments', {
        workflowId: dispatchWorkflowId(prefix),
        // Of no worker, so that it does not end; the test server's clock stands still afterwards.
        taskQueue: `${prefix}nowhere`,
        args: [{ prefix, timeoutMs: 1 }],
      });
      await (await start()).result();
      const { events } = await running.fetchHistory();
      const words = (events ?? []).flatMap(
        ({ workflowExecutionSignaledEventAttributes: signal }) => signal?.signalName ?? [],
      );
      expect(words).toEqual(['queued']);
      await running.terminate();
    });
  });

  it('waits while it is paused, and goes on where it was', async () => {
    await stage(4, async ({ state, start, recordOf, numbers }) => {
      state.holdFrom = 2;
      const run = await start();
      await until('it is in its third slice', async () => numbers().includes(2));
      await run.signal('pause');
      state.holdFrom = Infinity;
      await until('it is paused', async () => (await recordOf())?.state === 'paused');
      expect(await run.query('progress')).toMatchObject({ paused: true, position: { done: 3 } });
      expect(numbers()).toEqual([0, 1, 2]);
      await run.signal('resume');
      expect(await run.result()).toEqual({ taken: 4 });
      expect(numbers()).toEqual([0, 1, 2, 3]);
      expect((await recordOf())?.state).toBe('completed');
    });
  });

  it('is paused at once while it waits for the source', async () => {
    await stage(2, async ({ state, start, recordOf, numbers }) => {
      state.waitMs = 86_400_000;
      const run = await start();
      await until('it waits', async () => {
        const { position } = await run.query<{ position: object | null }>('progress');
        return position !== null;
      });
      await run.signal('pause');
      await until('it is paused', async () => (await recordOf())?.state === 'paused');
      expect(numbers()).toEqual([0]);
      await run.cancel();
      await expect(run.result()).rejects.toThrow();
    });
  });

  it.each([
    ['in a slice', false],
    ['while it is paused', true],
  ])('is cancelled %s, and the next may start', async (_when, paused) => {
    await stage(3, async ({ state, start, recordOf, numbers, input, imports }) => {
      state.holdFrom = 1;
      const run = await start();
      await until('it is in its second slice', async () => numbers().includes(1));
      if (paused) {
        await run.signal('pause');
        state.holdFrom = 2;
        await until('it is paused', async () => (await recordOf())?.state === 'paused');
      }
      await run.cancel();
      await expect(run.result()).rejects.toThrow();
      expect(await recordOf()).toMatchObject({ state: 'cancelled', error: null });
      expect((await recordOf())?.finished_at).toBeInstanceOf(Date);
      state.holdFrom = Infinity;
      await (await start({ runId: `${input.runId}-next` })).result();
      expect((await imports.getRun(`${input.runId}-next`))?.state).toBe('completed');
    });
  });

  it('tries a source that fails again, and ends with the reason for what it is refused', async () => {
    await stage(2, async ({ state, start, recordOf, numbers }) => {
      state.failures = [
        new AppError('IMPORT_SOURCE_FAILED'),
        new AppError('IMPORT_SOURCE_REFUSED', 'The source answered 403.'),
      ];
      await expect((await start()).result()).rejects.toThrow();
      expect(numbers()).toEqual([0, 0]);
      expect(await recordOf()).toMatchObject({
        state: 'failed',
        error: { code: 'IMPORT_SOURCE_REFUSED', message: 'The source answered 403.' },
      });
    });
  });

  it('goes on as a new run: the record is the same, and a pause stays', async () => {
    await stage(3, async ({ imports, input, start, recordOf, numbers }) => {
      const { runId: run_id, sourceId: source_id, dryRun: dry_run, startedBy: started_by } = input;
      await imports.insertRun({ run_id, source_id, dry_run, started_by });
      const begun = await recordOf();
      const run = await start({ continued: { position: positionAt(2, 3), paused: true } });
      await until('it is paused', async () => (await recordOf())?.state === 'paused');
      expect(numbers()).toEqual([]);
      await run.signal('resume');
      expect(await run.result()).toEqual({ taken: 3 });
      expect(numbers()).toEqual([2]);
      expect(await recordOf()).toMatchObject({ started_at: begun!.started_at, state: 'completed' });
      expect(await imports.listRuns('old', 10)).toHaveLength(1);
    });
  });
});
