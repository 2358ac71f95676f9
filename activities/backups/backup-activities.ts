import { Context } from '@temporalio/activity';
import { AppError } from '../../schemas/app-error.js';
import type { BackupRun } from '../../schemas/backups/backups.js';
import type { BackedUpAdapters } from '../ports/adapters.js';
import type { BackupStorage } from '../ports/backups.js';
import type { RestoreOrder } from './check-restore.js';
import { removeBrokenOff, removeOldBackups } from './list-backups.js';
import { readManifest } from './manifest.js';
import { restoreSlice } from './restore-backup.js';
import type { RestorePosition } from './restore-backup.js';
import { HOLDS_DOCUMENTS } from './without-documents.js';
import { backupSlice } from './write-backup.js';
import type { BackupOrder, BackupPosition } from './write-backup.js';

export interface BackupActivityDeps {
  adapters: BackedUpAdapters;
  settings: {
    /** Completed backups that are kept; 0: all. */
    keep: number;
    /** Of this process: where a restore puts what is too large for the memory. */
    scratchDirectory: string;
    /** A slice ends soon after; 15 s unless a test says otherwise. */
    sliceMs?: number;
  };
}

const SLICE_MS = 15_000;
/** So often a slice of documents is left to another worker, before there is taken to be none that has them. */
const LEFT_TO_OTHERS = 50;
/** The last runs, of which some may have left parts behind. */
const RUNS_LOOKED_AT = 100;

/** What a workflow learns of a slice: the position stays with Temporal, so it is small. */
export interface BackupSlice<Position> {
  position: Position;
  ended: boolean;
}

/** Activities of the workflow that makes and restores backups. */
export function createBackupActivities({ adapters, settings }: BackupActivityDeps) {
  const { runs } = adapters.backups;

  const requireStorage = (): BackupStorage => {
    const { storage } = adapters.backups;
    if (storage === null) throw new AppError('BACKUP_NOT_CONFIGURED');
    return storage;
  };

  const slice = async <
    Position extends Pick<BackupRun, 'phase' | 'done'> & { total: number; counts: Record<string, number> },
  >(
    runId: string,
    from: Position | null,
    work: (
      from: Position | null,
      control: { signal: AbortSignal; isOver(): boolean; reached(position: Position): void },
    ) => Promise<Position>,
  ): Promise<BackupSlice<Position>> => {
    const context = Context.current();
    const endsAt = Date.now() + (settings.sliceMs ?? SLICE_MS);
    const beaten = context.info.heartbeatDetails as Position | undefined;
    const position = await work(beaten ?? from, {
      signal: context.cancellationSignal,
      isOver: () => Date.now() >= endsAt,
      reached: (reached) => context.heartbeat(reached),
    });
    const { phase, done, total, counts: figures } = position;
    await runs.report(runId, { phase, done, total, figures });
    return { position, ended: phase === 'done' };
  };

  const beginBackupRun = (
    run: Pick<BackupRun, 'kind'> & { runId: string; backupId: string; startedBy: string },
  ): Promise<void> => {
    const { runId: run_id, backupId: backup_id, startedBy: started_by, kind } = run;
    return runs.insert({ run_id, kind, backup_id, started_by });
  };

  const writeBackupSlice = (
    order: BackupOrder & { position: BackupPosition | null },
  ): Promise<BackupSlice<BackupPosition>> =>
    slice<BackupPosition>(order.runId, order.position, async (from, control) => {
      const { archive, hasDocuments } = adapters.backups;
      if (!hasDocuments && mayLeaveToOthers() && (await archive.hasRecords('files')))
        throw new AppError('SERVICE_UNAVAILABLE', HOLDS_DOCUMENTS);
      return backupSlice(
        { ...adapters, ...adapters.backups, storage: requireStorage() },
        order,
        from,
        control,
      );
    });

  /**
   * A worker without documents asks the same queue as those with, where the two jobs share a Temporal. It could back up
   * and restore the records alone, so the slice is tried again until another one takes it.
   */
  const mayLeaveToOthers = (): boolean => Context.current().info.attempt <= LEFT_TO_OTHERS;

  /** Where a restore has begun a worker with documents did so, and what it has cleared is not left behind. */
  const requireSide = async (backupId: string, isBegun: boolean, signal: AbortSignal): Promise<void> => {
    if (adapters.backups.hasDocuments || !(isBegun || mayLeaveToOthers())) return;
    const { counts } = await readManifest(requireStorage(), backupId, signal);
    if ((counts['files'] ?? 0) > 0) throw new AppError('SERVICE_UNAVAILABLE', HOLDS_DOCUMENTS);
  };

  const restoreBackupSlice = (
    order: RestoreOrder & { runId: string; position: RestorePosition | null },
  ): Promise<BackupSlice<RestorePosition>> =>
    slice<RestorePosition>(order.runId, order.position, async (from, control) => {
      await requireSide(order.backupId, from !== null, control.signal);
      const { scratchDirectory } = settings;
      const target = { ...adapters, ...adapters.backups, storage: requireStorage(), scratchDirectory };
      return restoreSlice(target, order, from, control);
    });

  const endBackupRun = async ({
    runId,
    kind,
    backupId,
    state,
    error,
  }: Pick<BackupRun, 'kind' | 'state' | 'error'> & { runId: string; backupId: string }): Promise<void> => {
    const { storage } = adapters.backups;
    // Without a manifest it is none: what was written of it is of no use.
    if (kind === 'backup' && state !== 'completed')
      await storage?.removeFolder(backupId).catch(() => undefined);
    await runs.finish(runId, { state, error });
    await runs.dropParts(runId);
    if (kind !== 'backup' || state !== 'completed' || storage === null) return;
    // One run at a time: whatever else has not ended was broken off from outside, before it could remove its parts.
    const others = (await runs.list(RUNS_LOOKED_AT)).filter(
      (run) => run.kind === 'backup' && run.run_id !== runId,
    );
    const brokenOff = others.filter((run) => run.state !== 'completed');
    await removeBrokenOff(
      storage,
      brokenOff.map((run) => run.backup_id),
    );
    if (settings.keep > 0) await runs.markRemoved(await removeOldBackups(storage, settings.keep));
  };

  return { beginBackupRun, writeBackupSlice, restoreBackupSlice, endBackupRun };
}

export type BackupActivities = ReturnType<typeof createBackupActivities>;
