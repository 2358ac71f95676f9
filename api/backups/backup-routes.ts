import { randomUUID } from 'node:crypto';
import { checkRestore } from '../../activities/backups/check-restore.js';
import { listBackups } from '../../activities/backups/list-backups.js';
import type { BackupAdapters, BackupStarter, BackupStorage } from '../../activities/ports/backups.js';
import { AppError } from '../../schemas/app-error.js';
import { isFinalBackupState, keysOf } from '../../schemas/backups/backups.js';
import type { BackupManifest, BackupRun } from '../../schemas/backups/backups.js';
import {
  BackupList,
  BackupParams,
  BackupRunBody,
  BackupRunParams,
  BackupRunStarted,
  BackupRuns,
  BackupStart,
  RestoreStart,
} from '../../schemas/backups/backups-api.js';
import { cancelRun } from '../http/cancel-run.js';
import { presentRun, progressEvents } from '../http/progress-events.js';
import { empty, followingStream, json, route } from '../http/route.js';
import type { CallerContext, PublicContext, Route } from '../http/route.js';

const TAG = 'Backups';
const RUNS_LISTED = 50;

/**
 * Backups of everything that is stored, and their restoring.
 * @param auth administrators; or, where users are left out with the documents, holders of a key with the scope `admin`
 */
export function backupRoutes(
  { backups, workflows }: { backups: BackupAdapters; workflows: BackupStarter },
  auth: 'admin' | { key: 'dashboard'; scope: 'admin' },
): Route[] {
  const startedBy = (ctx: PublicContext | CallerContext): string =>
    'principal' in ctx ? String(ctx.principal.userId) : 'a key of the management side';
  const { runs } = backups;

  const requireStorage = (): BackupStorage => {
    if (backups.storage === null) throw new AppError('BACKUP_NOT_CONFIGURED');
    return backups.storage;
  };

  const requireRun = async (runId: string): Promise<BackupRun> => {
    const run = await runs.get(runId);
    if (run === null) throw new AppError('NOT_FOUND', 'There is no such run, or no worker has taken it yet.');
    return run;
  };

  /** A run that no workflow is at work on: it was ended in Temporal. What it wrote of a backup is of no use. */
  const giveUp = async ({ run_id, kind, backup_id }: BackupRun): Promise<void> => {
    const { storage } = backups;
    if (kind === 'backup' && storage !== null) {
      const isComplete = (await listBackups(storage)).some(({ id }) => id === backup_id);
      if (!isComplete) await storage.removeFolder(backup_id);
    }
    await runs.finish(run_id, { state: 'cancelled', error: null });
    await runs.dropParts(run_id);
  };

  const cancel = (): Promise<void> =>
    cancelRun({
      open: async () => (await runs.list(RUNS_LISTED)).filter(({ state }) => !isFinalBackupState(state)),
      cancel: () => workflows.cancelBackup(),
      notRunning: 'BACKUP_NOT_RUNNING',
      async end(open) {
        for (const run of open) await giveUp(run);
      },
    });

  return [
    route({
      method: 'get',
      path: '/admin/backups',
      summary: 'The backups that are complete, the newest first',
      tag: TAG,
      auth,
      responses: { 200: { description: 'Backups', schema: BackupList } },
      errors: ['BACKUP_STORAGE_ERROR', 'BACKUP_STORAGE_REFUSED'],
      async handle() {
        const { storage, keyFingerprints } = backups;
        if (storage === null) return json(200, { place: null, backups: [] });
        const found = await listBackups(storage);
        return json(200, {
          place: storage.place,
          backups: found.map(({ id, manifest }) => presentBackup(id, manifest, keyFingerprints)),
        });
      },
    }),
    route({
      method: 'post',
      path: '/admin/backups',
      summary: 'Make a backup of everything that is stored, while the service goes on; one run at a time',
      tag: TAG,
      auth,
      request: { body: BackupStart, bodyOptional: true },
      responses: { 202: { description: 'Started', schema: BackupRunStarted } },
      errors: ['BACKUP_NOT_CONFIGURED', 'BACKUP_RUNNING', 'SERVICE_UNAVAILABLE'],
      async handle(ctx, { body }) {
        requireStorage();
        const runId = randomUUID();
        const { vectors } = body;
        await workflows.startBackup({ runId, vectors, startedBy: startedBy(ctx) });
        return json(202, { run_id: runId });
      },
    }),
    route({
      method: 'delete',
      path: '/admin/backups/{backup_id}',
      summary: 'Remove a backup',
      tag: TAG,
      auth,
      request: { params: BackupParams },
      responses: { 204: { description: 'Removed' } },
      errors: [
        'NOT_FOUND',
        'BACKUP_NOT_CONFIGURED',
        'BACKUP_RUNNING',
        'BACKUP_STORAGE_ERROR',
        'BACKUP_STORAGE_REFUSED',
      ],
      async handle(_ctx, { params: { backup_id: id } }) {
        const storage = requireStorage();
        const [latest] = await runs.list(1);
        if (latest?.backup_id === id && !isFinalBackupState(latest.state))
          throw new AppError('BACKUP_RUNNING');
        if (!(await storage.folders()).includes(id)) throw new AppError('NOT_FOUND');
        // First: a removal that is cut short leaves no backup, and may find none when it is repeated.
        await runs.markRemoved([id]);
        await storage.removeFolder(id);
        return empty(204);
      },
    }),
    route({
      method: 'post',
      path: '/admin/restores',
      summary: 'Put back what a backup holds; refused where anything is stored, unless it may be replaced',
      tag: TAG,
      auth,
      request: { body: RestoreStart },
      responses: { 202: { description: 'Started', schema: BackupRunStarted } },
      errors: [
        'NOT_FOUND',
        'BACKUP_NOT_CONFIGURED',
        'BACKUP_NOT_USABLE',
        'RESTORE_NOT_EMPTY',
        'BACKUP_RUNNING',
        'BACKUP_STORAGE_ERROR',
        'BACKUP_STORAGE_REFUSED',
        'SERVICE_UNAVAILABLE',
      ],
      async handle(ctx, { body }) {
        const { backup_id: backupId, replace } = body;
        await checkRestore({ ...backups, storage: requireStorage() }, { backupId, replace });
        const runId = randomUUID();
        await workflows.startRestore({ runId, backupId, replace, startedBy: startedBy(ctx) });
        return json(202, { run_id: runId });
      },
    }),
    route({
      method: 'get',
      path: '/admin/backup-runs',
      summary: 'The last runs that made or restored a backup, the newest first',
      tag: TAG,
      auth,
      responses: { 200: { description: 'Runs', schema: BackupRuns } },
      async handle() {
        return json(200, { runs: (await runs.list(RUNS_LISTED)).map(presentRun) });
      },
    }),
    route({
      method: 'get',
      path: '/admin/backup-runs/{run_id}',
      summary: 'How far a run is',
      tag: TAG,
      auth,
      request: { params: BackupRunParams },
      responses: { 200: { description: 'The run', schema: BackupRunBody } },
      errors: ['NOT_FOUND'],
      async handle(_ctx, { params }) {
        return json(200, presentRun(await requireRun(params.run_id)));
      },
    }),
    route({
      method: 'get',
      path: '/admin/backup-runs/{run_id}/events',
      summary: 'Progress of a run until it ends, as server-sent events',
      tag: TAG,
      auth,
      request: { params: BackupRunParams },
      responses: { 200: { description: 'Each event is a BackupRun', contentType: 'text/event-stream' } },
      errors: ['NOT_FOUND'],
      async handle(ctx, { params }) {
        await requireRun(params.run_id);
        return followingStream(
          progressEvents(
            () => runs.get(params.run_id),
            ({ state }) => isFinalBackupState(state),
            ctx,
          ),
        );
      },
    }),
    route({
      method: 'post',
      path: '/admin/backup-runs/cancel',
      summary: 'Give up the run at work; a backup that is not complete is removed',
      tag: TAG,
      auth,
      responses: { 202: { description: 'Asked for' } },
      errors: ['BACKUP_NOT_RUNNING', 'BACKUP_STORAGE_ERROR', 'BACKUP_STORAGE_REFUSED', 'SERVICE_UNAVAILABLE'],
      async handle() {
        await cancel();
        return empty(202);
      },
    }),
  ];
}

function presentBackup(
  id: string,
  manifest: BackupManifest | null,
  keyFingerprints: readonly string[],
): BackupList['backups'][number] {
  const keys = manifest === null ? [] : keysOf(manifest);
  return {
    backup_id: id,
    usable: manifest !== null,
    started_at: manifest?.started_at ?? null,
    finished_at: manifest?.finished_at ?? null,
    vectors: manifest?.vectors ?? null,
    bytes: manifest?.parts.reduce((sum, { bytes }) => sum + bytes, 0) ?? null,
    counts: manifest?.counts ?? {},
    secrets_key: manifest?.secrets_key ?? null,
    missing_keys: keys.filter((key) => !keyFingerprints.includes(key)),
    key_known: keys.every((key) => keyFingerprints.includes(key)),
  };
}
