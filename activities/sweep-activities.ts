import { Context } from '@temporalio/activity';
import { AppError } from '../schemas/app-error.js';
import type { TaskRecord } from '../schemas/documents.js';
import type { DocumentRef } from './document-activities.js';
import type { Adapters } from './ports.js';
import { finishUserDeletion } from './reconcile/finish-user-deletion.js';
import type { DeletePartition } from './reconcile/finish-user-deletion.js';
import { releaseWorkspaceFiles } from './reconcile/release-workspace-files.js';
import { settleQuota } from './reconcile/settle-quota.js';
import { removeOrphanBlobs, removeOrphanChunks } from './reconcile/remove-orphans.js';

export interface SweepActivityDeps {
  adapters: Pick<
    Adapters,
    'files' | 'tasks' | 'quotas' | 'claims' | 'blobs' | 'chunks' | 'users' | 'partitions' | 'workspaces'
  >;
  /** Null while the service cannot delete partitions: then no user who alone owns one is ever marked. */
  deletePartition?: DeletePartition;
  settings: {
    /** What is younger is left alone: its own gateway or workflow is still busy with it. */
    graceMs: number;
    /** A task that is older than this, and than its workflow's own time limit, has nothing that drives it. */
    timeoutMs: number;
    /** Bytes without an owner are kept so long: an upload may be running. */
    orphanGraceMs: number;
  };
  now?: () => Date;
}

/** Each run of the sweep takes at most so many of each kind. */
const SHARE = 200;

/** One deletion that cannot go on must not keep the sweep from everything else: its mark stays. */
const leaveForNextTime = async (step: Promise<unknown>): Promise<void> => {
  await step.catch(() => undefined);
};

const refusePartitions: DeletePartition = async (partition) => {
  throw new AppError('NOT_IMPLEMENTED', `The partition '${partition}' cannot be deleted in this release.`);
};

/** The hands of the sweep and of the reconciler. */
export const createSweepActivities = (deps: SweepActivityDeps) => {
  const { files, tasks, quotas, claims, blobs, users, workspaces } = deps.adapters;
  const before = (ms: number): Date => new Date((deps.now?.() ?? new Date()).getTime() - ms);

  /**
   * Not pending and never handed over: an admission that a crash cut short, or a task that was superseded before
   * its workflow was started. Only of the first kind nobody was told; when in doubt the task stays to be read.
   */
  const discard = async (task: TaskRecord, fileKnown: boolean): Promise<void> => {
    await claims.release([task.task_id]);
    await quotas.release([task.task_id]);
    await blobs.remove(task.upload.upload_id);
    const { code, message } = new AppError('SUPERSEDED');
    if (fileKnown) await tasks.finish(task.task_id, 'CANCELLED', { code, message, traceback: [] });
    else await tasks.remove(task.task_id);
  };

  /** Admitted tasks without a workflow. The file record says whether a task was admitted at all. */
  const findUnstarted = async (): Promise<DocumentRef[]> => {
    const waiting = await tasks.listNotHandedOver(before(deps.settings.graceMs), SHARE);
    const records = await files.getMany(waiting.map((task) => task.file_key));
    const admitted: DocumentRef[] = [];
    for (const task of waiting) {
      if (records.get(task.file_key)?.pending_task === task.task_id) {
        await blobs.assign(task.upload.upload_id, { fileKey: task.file_key, generation: task.generation });
        admitted.push({ taskId: task.task_id, fileKey: task.file_key, generation: task.generation });
      } else await discard(task, records.has(task.file_key));
    }
    return admitted;
  };

  const markHandedOver = async (taskIds: string[]): Promise<void> => {
    for (const taskId of taskIds) await tasks.markHandedOver(taskId);
  };

  /** Active tasks past every time limit: their workflow is gone, so they end here, with a reason. */
  const endExpired = async (): Promise<number> => {
    const limit = deps.settings.timeoutMs + deps.settings.graceMs;
    const expired = await tasks.listActiveSince(before(limit), SHARE);
    const { code, message } = new AppError('TASK_EXPIRED');
    for (const task of expired) {
      await files.releasePending(task.file_key, task.task_id);
      await tasks.finish(task.task_id, 'FAILED', { code, message, traceback: [] });
      await settleQuota(deps.adapters, { taskId: task.task_id, fileKey: task.file_key });
    }
    return expired.length;
  };

  /** Deletions of users and workspaces that a crash cut short; what they delete is a tombstone then. */
  const finishDeletions = async (): Promise<void> => {
    for (const workspace of await workspaces.listDeleted(before(deps.settings.graceMs), SHARE))
      await leaveForNextTime(releaseWorkspaceFiles(deps.adapters, workspace));
    const { deletePartition = refusePartitions } = deps;
    for (const { user_id } of await users.listDeleted(SHARE))
      await leaveForNextTime(finishUserDeletion(deps.adapters, deletePartition, user_id));
  };

  /** Files that a crash left with something to clean up. */
  const findDirtyFiles = async (): Promise<string[]> => {
    await finishDeletions();
    const tombstones = await files.listTombstones(SHARE);
    const uncleaned = await tasks.listUncleaned(before(deps.settings.graceMs), SHARE);
    return [
      ...new Set([...tombstones.map((file) => file.file_key), ...uncleaned.map((task) => task.file_key)]),
    ];
  };

  /** Chunks and bytes that no record knows. */
  const removeOrphans = async (): Promise<{ chunks: number; blobs: number }> => {
    const signal = Context.current().cancellationSignal;
    return {
      chunks: await removeOrphanChunks(deps.adapters, signal),
      blobs: await removeOrphanBlobs(deps.adapters, before(deps.settings.orphanGraceMs), signal),
    };
  };

  return { findUnstarted, markHandedOver, endExpired, findDirtyFiles, removeOrphans };
};

export type SweepActivities = ReturnType<typeof createSweepActivities>;
