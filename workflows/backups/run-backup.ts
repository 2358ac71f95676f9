import {
  CancellationScope,
  continueAsNew,
  isCancellation,
  proxyActivities,
  setCurrentDetails,
  upsertMemo,
  uuid4,
  workflowInfo,
} from '@temporalio/workflow';
import type { BackupActivities, BackupSlice } from '../../activities/backups/backup-activities.js';
import type { RestorePosition } from '../../activities/backups/restore-backup.js';
import type { BackupPosition } from '../../activities/backups/write-backup.js';
import { taskQueues } from '../../schemas/task-queues.js';
import { bulk, quick } from '../activity-profiles.js';
import { causeOf } from '../cause-of.js';
import { goesOnAsNew } from '../goes-on-as-new.js';

export type RunBackupInput = {
  prefix: string;
  /** Left out by a schedule. */
  runId?: string;
  startedBy: string;
  /** Set when a run goes on as a new one. */
  continued?: { runId: string; backupId: string; position: BackupPosition | RestorePosition };
} & ({ kind: 'backup'; vectors: boolean } | { kind: 'restore'; backupId: string; replace: boolean });

type Position = BackupPosition | RestorePosition;

/**
 * Makes a backup or restores one, slice by slice. A slice is an activity of some seconds that starts where the one
 * before ended, so that neither a worker that dies nor a release in between costs more than that.
 */
export async function runBackup(input: RunBackupInput): Promise<{ backupId: string }> {
  const taskQueue = taskQueues(input.prefix).migrations;
  const { writeBackupSlice, restoreBackupSlice } = proxyActivities<BackupActivities>({ ...bulk, taskQueue });
  const { beginBackupRun, endBackupRun } = proxyActivities<BackupActivities>({ ...quick, taskQueue });
  const { kind, startedBy } = input;
  const { runId, backupId } = input.continued ?? newRun(input);
  let position: Position | null = input.continued?.position ?? null;

  const nextSlice = (): Promise<BackupSlice<Position>> =>
    input.kind === 'backup'
      ? writeBackupSlice({
          runId,
          backupId,
          vectors: input.vectors,
          position: position as BackupPosition | null,
        })
      : restoreBackupSlice({
          runId,
          backupId,
          replace: input.replace,
          position: position as RestorePosition | null,
        });

  let ended = false;
  setCurrentDetails(`${kind} ${backupId}: starting`);
  try {
    if (input.continued === undefined) await beginBackupRun({ runId, kind, backupId, startedBy });
    while (!ended && !(position !== null && goesOnAsNew())) {
      const slice = await nextSlice();
      ({ position, ended } = slice);
      const { phase, done, total } = slice.position;
      setCurrentDetails(`${kind} ${backupId}: ${phase}, ${done} of ${total} records`);
      upsertMemo({ phase, done, total });
    }
  } catch (error) {
    const end = isCancellation(error)
      ? ({ state: 'cancelled', error: null } as const)
      : ({ state: 'failed', error: causeOf(error) } as const);
    await CancellationScope.nonCancellable(() => endBackupRun({ runId, kind, backupId, ...end }));
    throw error;
  }
  if (!ended)
    return continueAsNew<typeof runBackup>({ ...input, continued: { runId, backupId, position: position! } });
  await CancellationScope.nonCancellable(() =>
    endBackupRun({ runId, kind, backupId, state: 'completed', error: null }),
  );
  return { backupId };
}

function newRun(input: RunBackupInput): { runId: string; backupId: string } {
  const runId = input.runId ?? uuid4();
  return { runId, backupId: input.kind === 'restore' ? input.backupId : newBackupId(runId) };
}

/** Such as `20260131T235959Z-0a1b2c3d`: in the order of time, and no two alike. */
function newBackupId(runId: string): string {
  const time = workflowInfo()
    .startTime.toISOString()
    .replaceAll(/[-:]|\.\d+/g, '');
  return `${time}-${runId.slice(0, 8)}`;
}
