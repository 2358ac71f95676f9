/**
 * Records the histories that `replay.test.ts` replays: `npm run record:histories` with a Temporal server running.
 * Run it whenever a workflow changes on purpose, and commit the histories with the change. Activities are scripted:
 * a history holds what the plan did, and the hands have their own tests.
 */
import { mkdir, realpath, writeFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { Client, Connection } from '@temporalio/client';
import type { WorkflowHandle } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { NativeConnection, Worker } from '@temporalio/worker';
import type { BackupActivities } from '../../activities/backups/backup-activities.js';
import { createMigrationActivities } from '../../activities/migrations/migration-activities.js';
import type { SwapPosition } from '../../activities/documents/swap-activities.js';
import type { ImportActivities } from '../../activities/imports/import-activities.js';
import type { Migration } from '../../activities/ports/migrations.js';
import { taskQueues } from '../../schemas/task-queues.js';
import type { DeliveryResult } from '../../activities/ports/capi.js';
import { createFakeMigrationStore } from '../support/fakes/migrations/fake-migration-store.js';
import { createScriptedForwarding, ok, refusal } from '../support/scripted-forwarding.js';
import { createScriptedUpkeep } from '../support/scripted-upkeep.js';
import {
  documentRef,
  nextSwapPosition,
  scriptedActivities,
  untilCancelled,
} from '../support/scripted-activities.js';
import type { AllActivities } from '../support/scripted-activities.js';
import { ended, until } from '../support/until.js';
import { quietRuntime, workflowBundle } from '../support/workflow-environment.js';

const FOLDER = new URL('../histories/', import.meta.url);
/** Where `node_modules` really is: in a worktree it may be a link. */
const MODULES = await realpath('node_modules');

interface Recording {
  name: string;
  workflow: string;
  script?: Partial<AllActivities>;
  /** The forwarding plans: how CAPI answers the first offers; it takes the rest. */
  answers?: DeliveryResult[];
  input?: object;
  /** So many signals wait; two unless told. */
  signals?: number;
  /** The watcher is paused at first, and resumed once the actor stands. */
  paused?: boolean;
  /** Once the actor stands it is told that CAPI takes signals of others. */
  reachable?: boolean;
  /** Cancels once the first activity runs. */
  cancel?: boolean;
  /** What is done to a plan of slices while one of them is held. */
  steer?: (run: WorkflowHandle) => Promise<unknown>;
  /** The migrations: after how many slices one ends; 0: it cannot be done. */
  slices?: number;
  /** It never ends: its first run is recorded, which continues as new. */
  endless?: boolean;
}

/** The watcher whose signals wait; the actor ends half a second after the last. */
const FORWARD = { watcher: 'watcher', idleMs: 500 };

const MIGRATE = {
  runId: 'run',
  name: 'records',
  mode: 'run',
  unit: 'records',
  pagesPerSecond: null,
  startedBy: '1',
};

const BACKUP = { runId: 'a-run-of-a-backup', kind: 'backup', vectors: true, startedBy: '1' };

const IMPORT = {
  runId: 'a-run',
  sourceId: 'a-source',
  dryRun: false,
  requestsPerSecond: 20,
  startedBy: '1',
};

const SWAP = {
  swap_id: 'swap',
  partition: 'library',
  partition_key: 'key',
  started_by: '1',
  source_embedder: 'old',
  target_embedder: 'new',
  min_overlap: null,
  min_known_item: null,
};

const SWAPS = {
  source: 'old',
  target: 'new',
  concurrency: 1,
  startedBy: '1',
  min_overlap: null,
  min_known_item: null,
};

const EVALUATION = {
  run_id: 'run',
  partition: 'library',
  partition_key: 'key',
  set: 'main',
  version: 1,
  version_id: 'version',
  label: null,
  settings: { chat: false, top_k: 50, preset: null, overrides: {} },
  config: null,
  questions_total: 4,
  started_by: '1',
};

/** What the first slice of a plan that goes on as a new run came to. */
const BEGUN = { phase: 'counting', done: 1, total: 3 };

let pages = 2;
let rounds = 2;

let isHeld = false;
let isSteered = false;

/** Holds the slice in which a recording steers its plan. */
async function holdSlice(isTheOne: boolean): Promise<void> {
  if (!isTheOne || !isHeld) return;
  isSteered = true;
  const context = Context.current();
  const { cancellationSignal: signal } = context;
  await until('the slice may go on', async () => {
    // A cancel is the answer to a heartbeat.
    context.heartbeat();
    return !isHeld || signal.aborted;
  });
  signal.throwIfAborted();
}

/** Pauses a plan in a slice, or lets a word do so, and has it go on once it is at rest. */
async function pauseAndResume(run: WorkflowHandle, word = 'pause', ...args: number[]): Promise<void> {
  await run.signal(word, ...args);
  isHeld = false;
  await until('it is at rest', async () => {
    const { raw } = await run.describe();
    return (raw.pendingActivities ?? []).length === 0 && raw.pendingWorkflowTask == null;
  });
  await run.signal('resume');
}

/** One without a window is told of a window that is over, which holds up nothing. */
async function tellOfWindow(run: WorkflowHandle): Promise<void> {
  await run.signal('window', 1);
  isHeld = false;
}

async function cancelRun(run: WorkflowHandle): Promise<void> {
  await run.cancel();
}

async function heldSwapSlice({ position }: { position: SwapPosition | null }) {
  // The first: the one behind the second obeys neither pause nor cancel.
  await holdSlice(position === null);
  return { position: nextSwapPosition(position), held: null };
}

const recordings: Recording[] = [
  { name: 'index-document-completed', workflow: 'indexDocument' },
  {
    name: 'index-document-replaced',
    workflow: 'indexDocument',
    script: { publishDocument: async () => ({ replaced: true }) },
  },
  {
    name: 'index-document-small',
    workflow: 'indexDocument',
    script: { embedDocument: async () => ({ stored: 3, published: { replaced: false } }) },
  },
  {
    name: 'index-document-in-task',
    workflow: 'indexDocument',
    input: { small: true },
    script: {
      parseDocument: async () => ({ chunkCount: 2, stored: true, published: { replaced: false } }),
    },
  },
  {
    name: 'index-document-in-task-failed',
    workflow: 'indexDocument',
    input: { small: true },
    script: {
      parseDocument: async () => {
        if (Context.current().info.isLocal)
          throw ApplicationFailure.create({ type: 'INTERNAL_DB_ERROR', message: 'away' });
        return { chunkCount: 3 };
      },
    },
  },
  {
    name: 'index-document-failed',
    workflow: 'indexDocument',
    script: {
      parseDocument: async () => {
        throw ApplicationFailure.nonRetryable('protected', 'FILE_ENCRYPTED');
      },
    },
  },
  {
    name: 'index-document-cancelled',
    workflow: 'indexDocument',
    script: { parseDocument: untilCancelled },
    cancel: true,
  },
  {
    name: 'index-document-enriched',
    workflow: 'indexDocument',
    script: { parseDocument: async () => ({ chunkCount: 3, enrich: true }) },
  },
  {
    name: 'index-document-captioned',
    workflow: 'indexDocument',
    script: {
      parseDocument: async () => ({ chunkCount: 3, enrich: true }),
      enrichDocument: async () => ({ degraded: ['caption'], chunkCount: 2 }),
    },
  },
  {
    name: 'index-document-at-once',
    workflow: 'indexDocument',
    script: {
      parseDocument: async () => ({ chunkCount: 1, stored: true, published: { replaced: false } }),
    },
  },
  {
    name: 'index-document-attached',
    workflow: 'indexDocument',
    script: { parseDocument: async () => ({ chunkCount: 3, attached: true }) },
  },
  { name: 'index-document-told', workflow: 'indexDocument', input: { callback: true } },
  { name: 'copy-document', workflow: 'copyDocument', input: { copy: true } },
  {
    name: 'copy-document-attached',
    workflow: 'copyDocument',
    input: { copy: true },
    script: { copyVersion: async () => ({ chunkCount: 3, attached: true }) },
  },
  { name: 'deliver-callback', workflow: 'deliverCallback', input: { taskId: 'task' } },
  {
    name: 'deliver-callback-refused',
    workflow: 'deliverCallback',
    input: { taskId: 'task' },
    script: {
      sendCallback: async () => {
        throw ApplicationFailure.nonRetryable('private', 'CALLBACK_REFUSED');
      },
    },
  },
  { name: 'clean-document', workflow: 'cleanDocument', input: { fileKey: 'file' } },
  { name: 'settle-document', workflow: 'settleDocument', input: { fileKey: 'file', token: 'token' } },
  {
    name: 'dispatch-documents',
    workflow: 'dispatchDocuments',
    script: {
      nextTurns: async () =>
        (rounds -= 1) < 0
          ? { refs: [], waiting: 0 }
          : {
              refs: [documentRef(`turn-${rounds}`), documentRef(`other-${rounds}`)],
              waiting: rounds,
            },
    },
    input: { roundMs: 10 },
  },
  {
    name: 'clean-partition',
    workflow: 'cleanPartition',
    // Two pages: the first has a file whose indexing is over already, and one that needs no stopping.
    script: {
      deletedFiles: async () =>
        (pages -= 1) < 0
          ? []
          : [
              { fileKey: `first-${pages}`, running: [3] },
              { fileKey: `second-${pages}`, running: [] },
            ],
    },
    input: { partition: 'library', partitionKey: 'key' },
  },
  {
    name: 'sweep-documents',
    workflow: 'sweepDocuments',
    script: { findUnstarted: async () => [documentRef('late')], findDirtyFiles: async () => ['dirty'] },
  },
  {
    name: 'sweep-documents-untold',
    workflow: 'sweepDocuments',
    script: { findUntoldCallbacks: async () => ['untold'] },
  },
  { name: 'reconcile-documents', workflow: 'reconcileDocuments' },
  { name: 'forward-signals-accepted', workflow: 'forwardSignals', answers: [], input: FORWARD },
  {
    name: 'forward-signals-several',
    workflow: 'forwardSignals',
    answers: [ok, refusal(503)],
    input: FORWARD,
    signals: 2100,
  },
  {
    name: 'forward-signals-held',
    workflow: 'forwardSignals',
    answers: [refusal(503)],
    input: FORWARD,
  },
  {
    name: 'forward-signals-split',
    workflow: 'forwardSignals',
    answers: [refusal(400), refusal(400)],
    input: FORWARD,
  },
  {
    name: 'forward-signals-paused',
    workflow: 'forwardSignals',
    answers: [],
    input: FORWARD,
    paused: true,
  },
  {
    name: 'forward-signals-reachable',
    workflow: 'forwardSignals',
    answers: [refusal(503)],
    input: { ...FORWARD, state: { work: [], failures: 12, hold: null, forwarded: 0, quarantined: 0 } },
    reachable: true,
  },
  { name: 'forward-metrics', workflow: 'forwardMetrics', answers: [refusal(503)], input: FORWARD },
  { name: 'sweep-forwarding', workflow: 'sweepForwarding', answers: [], input: FORWARD },
  { name: 'count-alerts', workflow: 'countAlerts', answers: [] },
  {
    name: 'upkeep-documents',
    workflow: 'upkeepDocuments',
    script: { findDirtyFiles: async () => ['dirty'] },
    input: { everyMs: 100, stepsPerRun: 3 },
    endless: true,
  },
  {
    name: 'upkeep-signals',
    workflow: 'upkeepSignals',
    answers: [],
    input: { everyMs: 100, stepsPerRun: 3 },
    endless: true,
  },
  { name: 'swap-embedder', workflow: 'swapEmbedder', input: { swap: SWAP } },
  {
    name: 'swap-embedder-held',
    workflow: 'swapEmbedder',
    input: { swap: SWAP },
    script: {
      runEmbedderSwapSlice: async () => ({
        position: {
          phase: 'switching',
          after: null,
          passes: 1,
          embedded: 0,
          done: 2,
          total: 2,
          overWindow: 0,
          figures: { sampled: 2, overlap: 0, known_item_before: 1, known_item_after: 0 },
        },
        held: 'The switch is held back.',
      }),
    },
  },
  {
    name: 'swap-embedder-paused',
    workflow: 'swapEmbedder',
    input: { swap: SWAP },
    script: { runEmbedderSwapSlice: heldSwapSlice },
    steer: pauseAndResume,
  },
  {
    name: 'swap-embedder-cancelled',
    workflow: 'swapEmbedder',
    input: { swap: SWAP },
    script: { runEmbedderSwapSlice: heldSwapSlice },
    steer: cancelRun,
  },
  {
    name: 'swap-embedder-continued',
    workflow: 'swapEmbedder',
    input: { swap: SWAP, continued: { position: nextSwapPosition(null), paused: false } },
  },
  {
    name: 'swap-embedders-cancelled',
    workflow: 'swapEmbedders',
    input: SWAPS,
    script: { runEmbedderSwapSlice: heldSwapSlice },
    steer: cancelRun,
  },
  {
    name: 'swap-embedders',
    workflow: 'swapEmbedders',
    input: SWAPS,
  },
  { name: 'evaluate', workflow: 'evaluate', input: { run: EVALUATION } },
  {
    name: 'evaluate-failed',
    workflow: 'evaluate',
    input: { run: EVALUATION },
    script: {
      runEvaluationSlice: async () => {
        throw ApplicationFailure.nonRetryable('The partition was deleted.', 'PARTITION_NOT_FOUND');
      },
    },
  },
  {
    name: 'evaluate-cancelled',
    workflow: 'evaluate',
    input: { run: EVALUATION },
    script: { runEvaluationSlice: untilCancelled },
    cancel: true,
  },
  { name: 'migrate', workflow: 'migrate', slices: 3, input: MIGRATE },
  { name: 'migrate-failed', workflow: 'migrate', slices: 0, input: MIGRATE },
  { name: 'migrate-paused', workflow: 'migrate', slices: 4, input: MIGRATE, steer: pauseAndResume },
  { name: 'migrate-cancelled', workflow: 'migrate', slices: 4, input: MIGRATE, steer: cancelRun },
  { name: 'migrate-window', workflow: 'migrate', slices: 4, input: MIGRATE, steer: tellOfWindow },
  {
    name: 'migrate-window-over',
    workflow: 'migrate',
    slices: 4,
    input: { ...MIGRATE, windowEndsAt: Date.UTC(2100, 0) },
    steer: (run) => pauseAndResume(run, 'window', 1),
  },
  {
    name: 'migrate-continued',
    workflow: 'migrate',
    slices: 3,
    input: {
      ...MIGRATE,
      continued: { last: { position: BEGUN, ended: false, cancellable: true, ...BEGUN }, paused: false },
    },
  },
  {
    name: 'open-migration-window',
    workflow: 'openMigrationWindow',
    slices: 1,
    input: { name: 'records', unit: 'records', windowMs: 3_600_000, pagesPerSecond: null },
  },
  {
    name: 'backup',
    workflow: 'runBackup',
    slices: 3,
    input: BACKUP,
  },
  {
    name: 'backup-failed',
    workflow: 'runBackup',
    slices: 0,
    input: BACKUP,
  },
  { name: 'backup-cancelled', workflow: 'runBackup', slices: 3, input: BACKUP, steer: cancelRun },
  {
    name: 'backup-continued',
    workflow: 'runBackup',
    slices: 3,
    input: { ...BACKUP, continued: { runId: 'a-run', backupId: 'a-backup', position: BEGUN } },
  },
  {
    name: 'restore',
    workflow: 'runBackup',
    slices: 2,
    input: { runId: 'a-run', kind: 'restore', backupId: 'a-backup', replace: false, startedBy: '1' },
  },
  {
    name: 'import-service',
    workflow: 'importService',
    slices: 3,
    input: IMPORT,
  },
  {
    name: 'import-service-failed',
    workflow: 'importService',
    slices: 0,
    input: { ...IMPORT, dryRun: true },
  },
  {
    name: 'import-service-paused',
    workflow: 'importService',
    slices: 3,
    input: IMPORT,
    steer: pauseAndResume,
  },
  { name: 'import-service-cancelled', workflow: 'importService', slices: 3, input: IMPORT, steer: cancelRun },
  {
    name: 'import-service-continued',
    workflow: 'importService',
    slices: 3,
    input: { ...IMPORT, continued: { position: { ...BEGUN, figures: {}, waitMs: 0 }, paused: false } },
  },
  { name: 'scheduled-backup', workflow: 'scheduledBackup', slices: 1, input: { vectors: true } },
  { name: 'retain-quarantine', workflow: 'retainQuarantine', answers: [], input: { quarantineDays: 30 } },
  { name: 'retain-records', workflow: 'retainRecords', input: { of: 'tasks', retentionDays: 30 } },
  { name: 'retain-alerts', workflow: 'retainAlerts', answers: [], input: { retentionDays: 30 } },
];

function queueOf(
  queues: ReturnType<typeof taskQueues>,
  { answers, slices }: { answers: DeliveryResult[] | undefined; slices: number | undefined },
): string {
  if (slices !== undefined) return queues.migrations;
  return answers === undefined ? queues.documents : queues.alerts;
}

/** So many slices, or a reason why it cannot be done. */
function countedMigration(slices: number): Migration {
  return {
    name: 'records',
    title: 'counts',
    unit: 'records',
    modes: ['run'],
    pending: async () => ({ what: 'count', amount: slices, dark: [], obstacle: null }),
    async slice(_mode, position) {
      if (slices === 0)
        throw ApplicationFailure.nonRetryable('No embedder is the default.', 'MIGRATION_NOT_POSSIBLE');
      const done = Number(position?.['done'] ?? 0) + 1;
      await holdSlice(done === 2);
      return {
        position: { phase: 'counting', done },
        ended: done === slices,
        cancellable: done < slices - 1,
        done,
        total: slices,
        figures: { done },
      };
    },
    abandon: async () => undefined,
  };
}

/** Likewise. */
function countedBackup(slices: number): BackupActivities {
  const nextPosition = async <Position extends { done: number }>(
    position: Position | null,
  ): Promise<{ position: Position; ended: boolean }> => {
    if (slices === 0)
      throw ApplicationFailure.nonRetryable('BACKUP_LOCATION names no place.', 'BACKUP_NOT_CONFIGURED');
    const done = (position?.done ?? 0) + 1;
    await holdSlice(done === 2);
    const counted = { phase: done === slices ? 'done' : 'files', done, total: slices, counts: {} };
    return { position: { ...position, ...counted } as unknown as Position, ended: done === slices };
  };
  return {
    beginBackupRun: async () => undefined,
    writeBackupSlice: async ({ position }) => nextPosition(position),
    restoreBackupSlice: async ({ position }) => nextPosition(position),
    endBackupRun: async () => undefined,
  };
}

/** Likewise; in each files are admitted. */
function countedImport(slices: number): ImportActivities {
  return {
    beginImport: async () => undefined,
    async runImportSlice({ position }) {
      if (slices === 0)
        throw ApplicationFailure.nonRetryable('The source answered 403.', 'IMPORT_SOURCE_REFUSED');
      const done = (position?.done ?? 0) + 1;
      await holdSlice(done === 2);
      const phase = done === slices ? 'done' : 'files';
      const place = { partition: 'a-partition', after: `file-${done}`, figures: { taken: done } };
      return { position: { ...place, phase, done, total: slices, waitMs: 100 }, admitted: true };
    },
    pauseImport: async () => undefined,
    endImport: async () => undefined,
  };
}

async function record(client: Client, connection: NativeConnection, recording: Recording): Promise<void> {
  const { name, workflow, script, answers, input, signals = 2 } = recording;
  const { paused, reachable, cancel, endless, slices, steer } = recording;
  isHeld = steer !== undefined;
  isSteered = false;
  const prefix = `record-${Date.now()}-`;
  const { activities, names } = scriptedActivities(script);
  const queues = taskQueues(prefix);
  const options = { connection, activities, maxHeartbeatThrottleInterval: 100 };
  const fixture = createScriptedForwarding(async () => Date.now());
  const scripted = [...(answers ?? [])];
  fixture.answer(() => scripted.shift() ?? ok);
  fixture.add(signals, { watcher: 'watcher' });
  if (paused === true) fixture.pause();
  fixture.needlesslyHeld.push('watcher');
  await fixture.metrics.hold(
    'watcher',
    [{ path: 'v3/usage-metrics', bytes: gzipSync('{}'), part: false }],
    new Date(Date.now() - 60_000),
  );
  const first = await Worker.create({
    ...options,
    taskQueue: queues.documents,
    workflowBundle: await workflowBundle(),
  });
  const second = await Worker.create({ ...options, taskQueue: queues.models });
  const third = await Worker.create({
    ...options,
    activities: { ...fixture.activities, ...createScriptedUpkeep().activities },
    taskQueue: queues.alerts,
    workflowBundle: await workflowBundle(),
  });
  const fourth = await Worker.create({
    ...options,
    activities: {
      ...createMigrationActivities({
        store: createFakeMigrationStore(),
        migrations: [countedMigration(slices ?? 0)],
      }),
      ...countedBackup(slices ?? 0),
      ...countedImport(slices ?? 0),
    },
    taskQueue: queues.migrations,
    workflowBundle: await workflowBundle(),
  });
  const withWorkers = <T>(run: () => Promise<T>): Promise<T> =>
    first.runUntil(second.runUntil(third.runUntil(fourth.runUntil(run))));
  await withWorkers(async () => {
    const handle = await client.workflow.start(workflow, {
      workflowId: `${prefix}${name}`,
      taskQueue: queueOf(queues, { answers, slices }),
      args: [{ ...documentRef(name), prefix, timeoutMs: 86_400_000, ...input }],
    });
    if (cancel === true) {
      await until('the first activity runs', async () => names().length > 0);
      await handle.cancel();
    }
    if (steer !== undefined) {
      await until('its slice is held', async () => isSteered);
      await steer(handle);
    }
    if (paused === true || reachable === true)
      await until('the actor stands', async () => {
        const { hold } = await handle.query<{ hold: object | null }>('forwardingStatus');
        return hold !== null;
      });
    if (reachable === true) await handle.signal('reachable');
    if (paused === true) {
      fixture.pause(null);
      await handle.signal('resume');
    }
    const { workflowId, firstExecutionRunId: runId } = handle;
    await ended(client, workflowId, { runId, withinMs: 120_000 });
    // Stack traces name the place where the recording ran; a replay does not look at them.
    const history = historyToJSON(await client.workflow.getHandle(workflowId, runId).fetchHistory())
      .replaceAll(process.cwd(), '')
      .replaceAll(MODULES, '/node_modules');
    await writeFile(new URL(`${name}.json`, FOLDER), `${JSON.stringify(JSON.parse(history), null, 1)}\n`);
    if (endless === true) await client.workflow.getHandle(workflowId).terminate('it is recorded');
  });
}

quietRuntime();
await mkdir(FOLDER, { recursive: true });
const address = process.env['TEMPORAL_ADDRESS'] ?? '127.0.0.1:7233';
const connection = await NativeConnection.connect({ address });
const client = new Client({ connection: await Connection.connect({ address }) });
/** `npm run record:histories -- forward-signals-paused` records that one alone. */
const wanted = process.argv.slice(2);
for (const recording of recordings.filter(({ name }) => wanted.length === 0 || wanted.includes(name)))
  await record(client, connection, recording);
await client.connection.close();
await connection.close();
