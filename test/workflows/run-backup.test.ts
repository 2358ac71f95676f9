import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Context } from '@temporalio/activity';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { Worker } from '@temporalio/worker';
import { createBackupActivities } from '../../activities/backups/backup-activities.js';
import type { BackupActivities, BackupSlice } from '../../activities/backups/backup-activities.js';
import { AppError } from '../../schemas/app-error.js';
import { backupWorkflowId } from '../../schemas/ids.js';
import { taskQueues } from '../../schemas/task-queues.js';
import { createActivityInterceptors } from '../../workers/activity-interceptor.js';
import type { RunBackupInput, runBackup } from '../../workflows/backups/run-backup.js';
import type { scheduledBackup } from '../../workflows/backups/scheduled-backup.js';
import { createFakeBackups } from '../support/fakes/backups/fake-backups.js';
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

type Write = Parameters<BackupActivities['writeBackupSlice']>[0];
type Restore = Parameters<BackupActivities['restoreBackupSlice']>[0];

/** Both kinds of slices count to `total`; a test holds them or makes them fail. */
async function openStage(total: number) {
  const prefix = `backup-${(serial += 1)}-`;
  const taskQueue = taskQueues(prefix).migrations;
  const backups = createFakeBackups();
  const state = {
    asked: [] as (Write | Restore)[],
    failures: [] as Error[],
    /** A slice waits while this is at most its number. */
    holdFrom: Infinity,
  };
  const slice = async <Position>(
    order: (Write | Restore) & { position: unknown },
  ): Promise<BackupSlice<Position>> => {
    state.asked.push(order);
    const at = (order.position as { done: number } | null)?.done ?? 0;
    const { cancellationSignal: signal } = Context.current();
    if (order.position === null && 'vectors' in order)
      await backups.objects.put(`${order.backupId}/000000-counters.tar.gz`, Buffer.from('part'));
    await until('the slice may go on', async () => at < state.holdFrom || signal.aborted);
    signal.throwIfAborted();
    const failure = state.failures.shift();
    if (failure !== undefined) throw failure;
    const done = at + 1;
    return {
      position: { phase: done === total ? 'done' : 'files', done, total, counts: {} } as Position,
      ended: done === total,
    };
  };
  const worker = await Worker.create({
    connection: env.nativeConnection,
    taskQueue,
    workflowBundle: await workflowBundle(),
    activities: {
      ...createBackupActivities({
        adapters: { backups } as never,
        settings: { keep: 0, scratchDirectory: '/nowhere' },
      }),
      writeBackupSlice: (order: Write) => slice(order),
      restoreBackupSlice: (order: Restore) => slice(order),
    },
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
  const start = (input: Partial<RunBackupInput> = {}) =>
    env.client.workflow.start<typeof runBackup>('runBackup', {
      workflowId: backupWorkflowId(prefix),
      taskQueue,
      args: [{ prefix, runId: 'run', startedBy: '1', kind: 'backup', vectors: true, ...input } as never],
    });
  const schedule = () =>
    env.client.workflow.execute<typeof scheduledBackup>('scheduledBackup', {
      workflowId: `${prefix}schedule-${Math.random()}`,
      taskQueue,
      args: [{ prefix, vectors: false }],
    });
  const recordOf = (runId = 'run') => backups.runs.get(runId);
  const numbers = () => state.asked.map(({ position }) => position?.done ?? 0);
  return { prefix, backups, state, worker, start, schedule, recordOf, numbers };
}

async function stage(
  total: number,
  use: (given: Awaited<ReturnType<typeof openStage>>) => Promise<void>,
): Promise<void> {
  const given = await openStage(total);
  await given.worker.runUntil(() => use(given));
}

const RESTORE = { kind: 'restore', backupId: 'a-backup', replace: true } as const;

describe('runBackup', () => {
  it('makes a backup, each slice from where the one before ended', async () => {
    await stage(3, async ({ state, start, recordOf, numbers }) => {
      const { backupId } = await (await start()).result();
      expect(backupId).toMatch(/^\d{8}T\d{6}Z-run$/);
      expect(numbers()).toEqual([0, 1, 2]);
      const position = { phase: 'files', done: 1, total: 3, counts: {} };
      expect(state.asked[1]).toEqual({ runId: 'run', backupId, vectors: true, position });
      expect(await recordOf()).toMatchObject({
        kind: 'backup',
        backup_id: backupId,
        started_by: '1',
        state: 'completed',
      });
    });
  });

  it('restores the backup that it is told', async () => {
    await stage(2, async ({ state, start, recordOf }) => {
      expect(await (await start(RESTORE)).result()).toEqual({ backupId: 'a-backup' });
      expect(state.asked).toHaveLength(2);
      expect(state.asked[0]).toEqual({ runId: 'run', backupId: 'a-backup', replace: true, position: null });
      expect(await recordOf()).toMatchObject({
        kind: 'restore',
        backup_id: 'a-backup',
        state: 'completed',
      });
    });
  });

  it('is cancelled: what was written of it goes, and the next may start', async () => {
    await stage(3, async ({ backups, state, start, recordOf, numbers }) => {
      state.holdFrom = 1;
      const run = await start();
      await until('it is in its second slice', async () => numbers().includes(1));
      expect(await backups.objects.folders()).toHaveLength(1);
      await run.cancel();
      await expect(run.result()).rejects.toThrow();
      expect(await recordOf()).toMatchObject({ state: 'cancelled', error: null });
      expect(await backups.objects.folders()).toEqual([]);
      state.holdFrom = Infinity;
      await (await start({ runId: 'next' })).result();
      expect(await recordOf('next')).toMatchObject({ state: 'completed' });
    });
  });

  it('leaves the backup where a restore is cancelled', async () => {
    await stage(3, async ({ backups, state, start, recordOf, numbers }) => {
      await backups.objects.put('a-backup/manifest.json', Buffer.from('{}'));
      state.holdFrom = 1;
      const run = await start(RESTORE);
      await until('it is in its second slice', async () => numbers().includes(1));
      await run.cancel();
      await expect(run.result()).rejects.toThrow();
      expect(await recordOf()).toMatchObject({ state: 'cancelled' });
      expect(await backups.objects.folders()).toEqual(['a-backup']);
    });
  });

  it('tries a store that is away again, and ends with the reason for what cannot be done', async () => {
    await stage(2, async ({ backups, state, start, recordOf, numbers }) => {
      state.failures = [
        new AppError('SERVICE_UNAVAILABLE'),
        new AppError('BACKUP_NOT_CONFIGURED', 'No place.'),
      ];
      await expect((await start()).result()).rejects.toThrow();
      expect(numbers()).toEqual([0, 0]);
      expect(await recordOf()).toMatchObject({
        state: 'failed',
        error: { code: 'BACKUP_NOT_CONFIGURED', message: 'No place.' },
      });
      expect(await backups.objects.folders()).toEqual([]);
    });
  });

  it('goes on as a new run, with its record and its backup', async () => {
    await stage(3, async ({ backups, state, start, recordOf, numbers }) => {
      const ids = { kind: 'backup', backup_id: 'begun', started_by: 'schedule' } as const;
      await backups.runs.insert({ run_id: 'first', ...ids });
      const position = { phase: 'files', done: 2, total: 3, counts: {} } as never;
      const run = await start({
        runId: undefined as never,
        startedBy: 'schedule',
        continued: { runId: 'first', backupId: 'begun', position },
      });
      expect(await run.result()).toEqual({ backupId: 'begun' });
      expect(numbers()).toEqual([2]);
      expect(state.asked[0]).toMatchObject({ runId: 'first', backupId: 'begun' });
      expect(await recordOf('first')).toMatchObject({ ...ids, state: 'completed' });
      expect(await backups.runs.list(10)).toHaveLength(1);
    });
  });
});

describe('scheduledBackup', () => {
  it('starts a backup, which goes on by itself', async () => {
    await stage(2, async ({ prefix, backups, state, schedule }) => {
      state.holdFrom = 0;
      expect(await schedule()).toBe('started');
      await until('it is at work', async () => state.asked.length === 1);
      state.holdFrom = Infinity;
      expect(await ended(env.client, backupWorkflowId(prefix))).toBe('COMPLETED');
      expect(await backups.runs.list(10)).toMatchObject([
        { kind: 'backup', started_by: 'schedule', state: 'completed' },
      ]);
      expect(state.asked[0]).toMatchObject({ vectors: false });
    });
  });

  it.each([
    ['a backup', {}],
    ['a restore', RESTORE],
  ])('does not disturb %s that is at work', async (_which, input) => {
    await stage(2, async ({ backups, state, start, schedule, numbers }) => {
      state.holdFrom = 1;
      const run = await start(input);
      await until('it is in its second slice', async () => numbers().includes(1));
      expect(await schedule()).toBe('running already');
      state.holdFrom = Infinity;
      await run.result();
      expect(numbers()).toEqual([0, 1]);
      expect(await backups.runs.list(10)).toHaveLength(1);
    });
  });
});
