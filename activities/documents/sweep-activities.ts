import { Context, log } from '@temporalio/activity';
import type { FileRecord } from '../../schemas/documents/documents.js';
import type { TaskRecord } from '../../schemas/documents/tasks.js';
import { taskToStart } from './task-ref.js';
import type { TaskToStart } from './task-ref.js';
import type { Adapters } from '../ports/adapters.js';
import type { IndexingPlans } from '../ports/tasks.js';
import { endTaskRecord } from './clean-up/end-task-record.js';
import { createAbandonedSearch } from './clean-up/find-abandoned.js';
import { finishPartitionDeletion } from './clean-up/finish-partition-deletion.js';
import { finishUserDeletion } from './clean-up/finish-user-deletion.js';
import { releaseWorkspaceFiles } from './clean-up/release-workspace-files.js';
import {
  foreignOwner,
  releaseOrphanClaims,
  removeOrphanBlobs,
  removeOrphanChunks,
  removeStrayFiles,
} from './clean-up/remove-orphans.js';
import { takeTurns } from './take-turns.js';
import { fileOf } from './commands/file-of.js';
import { taskFailure } from '../../schemas/documents/tasks.js';

export interface SweepActivityDeps {
  adapters: Pick<
    Adapters,
    | 'files'
    | 'tasks'
    | 'quotas'
    | 'claims'
    | 'blobs'
    | 'chunks'
    | 'questionSets'
    | 'evaluationRuns'
    | 'feedback'
    | 'conversations'
    | 'users'
    | 'partitions'
    | 'workspaces'
    | 'callbacks'
    | 'recordStore'
  >;
  plans: IndexingPlans;
  settings: {
    /** Younger ones are skipped: their own gateway or workflow is still at work. */
    graceMs: number;
    /** Tasks of one user that may be at work at one time. */
    runningPerUser: number;
    /** A task that was handed over so long ago is past its workflow's own time limit: nothing drives it. */
    timeoutMs: number;
    /** Bytes without an owner are kept so long: an upload may be running. */
    orphanGraceMs: number;
  };
  now?: () => Date;
}

/** A start that was answered so long ago was carried out, or is lost. */
const HANDED_OVER_MS = 2 * 60_000;

/** Each run of the sweep takes at most so many of each kind. */
const SHARE = 200;

/** One deletion that cannot go on must not keep the sweep from everything else: its mark stays. */
async function leaveForNextTime(step: Promise<unknown>): Promise<void> {
  await step.catch(() => undefined);
}

function isAdmitted({ task_id: taskId }: TaskRecord, file: FileRecord | undefined): boolean {
  return file?.pending_task === taskId || file?.live?.task_id === taskId;
}

/** What the reconciler came to. */
export interface RemovedOrphans {
  chunks: number;
  blobs: number;
  /** Why no chunk was looked at; absent: they were. */
  chunks_kept?: string;
}

/** Activities of the sweep and of the reconciler. */
export function createSweepActivities(deps: SweepActivityDeps) {
  const { partitions, callbacks, files, tasks, quotas, claims, blobs, users, workspaces } = deps.adapters;
  const findAbandoned = createAbandonedSearch(deps);
  const before = (ms: number): Date => new Date((deps.now?.() ?? new Date()).getTime() - ms);

  /**
   * Neither pending nor live when it was looked at: an admission that a crash cut short, or a task that was superseded
   * before its workflow was started. Only the first kind was never answered; when in doubt the task's record stays.
   * A task that has ended since is left to the process that ended it: its bytes may be those of a live version.
   */
  const discard = async (task: TaskRecord): Promise<void> => {
    const fileNow = () => fileOf(files, task.file_key);
    // Those in front of it took their time, in which a slow gateway may have gone on.
    if (isAdmitted(task, await fileNow())) return;
    if (!(await tasks.finish(task.task_id, 'CANCELLED', taskFailure('SUPERSEDED')))) return;
    const file = await fileNow();
    // Admitted in this moment: the gateway takes it back, or the clean-up removes what it has.
    if (isAdmitted(task, file)) {
      await files.releasePending(task.file_key, task.task_id);
      return;
    }
    await claims.release([task.task_id]);
    await quotas.release([task.task_id]);
    await blobs.remove(task.upload.upload_id);
    if (file === undefined) await tasks.remove(task.task_id);
  };

  /**
   * Admitted tasks without a workflow whose turn it is; first goes what was never admitted, as its file's record says.
   * Behind them those that were handed over and have none any more: their turn has come before.
   */
  const findUnstarted = async (): Promise<TaskToStart[]> => {
    const waiting = await tasks.listNotHandedOver(before(deps.settings.graceMs), SHARE);
    // After the list: what has become live since is seen here, though it was waiting there.
    const records = await files.getMany(waiting.map((task) => task.file_key));
    for (const task of waiting) if (!isAdmitted(task, records.get(task.file_key))) await discard(task);
    const { refs } = await takeNextTurns();
    const abandoned = await findAbandoned(before(HANDED_OVER_MS)).catch((error: unknown) => {
      log.warn('which tasks have lost their workflow is left to the next sweep', { error });
      return [];
    });
    return [...refs, ...abandoned];
  };

  /** The tasks to start now, users in turn, and how many wait in all. */
  const takeNextTurns = async (): Promise<{ refs: TaskToStart[]; waiting: number }> => {
    const { next, waiting } = await takeTurns(deps.adapters, deps.settings.runningPerUser);
    for (const { upload, file_key: fileKey, generation } of next)
      await blobs.assign(upload.upload_id, { fileKey, generation });
    return { refs: next.map(taskToStart), waiting };
  };

  const markHandedOver = async (taskIds: string[]): Promise<void> => {
    for (const taskId of taskIds) await tasks.markHandedOver(taskId);
  };

  /** Active tasks past every time limit: their workflow is gone, so they end here, with a reason. */
  const endExpired = async (): Promise<number> => {
    const limit = deps.settings.timeoutMs + deps.settings.graceMs;
    const expired = await tasks.listActiveSince(before(limit), SHARE);
    const failure = taskFailure('TASK_EXPIRED');
    for (const { task_id: taskId, file_key: fileKey, generation } of expired)
      await endTaskRecord(deps.adapters, { taskId, fileKey, generation }, 'FAILED', failure);
    return expired.length;
  };

  /** Deletions of partitions, users and workspaces that a crash cut short; what they delete is a tombstone then. */
  const finishDeletions = async (): Promise<void> => {
    for (const workspace of await workspaces.listDeleted(before(deps.settings.graceMs), SHARE))
      await leaveForNextTime(releaseWorkspaceFiles(deps.adapters, workspace));
    for (const { user_id } of await users.listDeleted(SHARE))
      await leaveForNextTime(finishUserDeletion(deps.adapters, endPartition, user_id));
    for (const deleted of await partitions.listDeleted())
      await leaveForNextTime(finishPartitionDeletion(deps.adapters, deleted));
  };

  /** Of a deleted user: the tombstones that it leaves are cleaned as all others are. */
  const endPartition = async (partition: string): Promise<void> => {
    const deleted = await partitions.markDeleted(partition);
    if (deleted !== null) await finishPartitionDeletion(deps.adapters, deleted);
  };

  /** First finishes deletions of users, partitions and workspaces; then finds files with something to clean up. */
  const findDirtyFiles = async (): Promise<string[]> => {
    await finishDeletions();
    const over = before(deps.settings.graceMs);
    const [tombstones, unconfirmed, uncleaned] = await Promise.all([
      files.listTombstones(SHARE),
      files.listUnconfirmed(over, SHARE),
      tasks.listUncleaned(over, SHARE),
    ]);
    return [...new Set([...tombstones, ...unconfirmed, ...uncleaned].map(({ file_key }) => file_key))];
  };

  /** Chunks and bytes that no record knows, and claims that no task holds. */
  const removeOrphans = async (): Promise<RemovedOrphans> => {
    const signal = Context.current().cancellationSignal;
    await removeStrayFiles(deps.adapters, before(deps.settings.graceMs), signal);
    await releaseOrphanClaims(deps.adapters, signal);
    const owner = await foreignOwner(deps.adapters);
    if (owner !== null)
      log.error('the chunks belong to another record store than this one: none is removed', { owner });
    const chunks = owner === null ? await removeOrphanChunks(deps.adapters, signal) : 0;
    const blobs = await removeOrphanBlobs(deps.adapters, before(deps.settings.orphanGraceMs), signal);
    return {
      chunks,
      blobs,
      ...(owner === null ? {} : { chunks_kept: `they belong to another record store, ${owner}` }),
    };
  };

  /** Records that ended longer ago than they are kept. Answers how many were removed. */
  const removeEnded = ({ of, beforeMs }: { of: 'tasks' | 'callbacks'; beforeMs: number }): Promise<number> =>
    (of === 'tasks' ? tasks : callbacks).removeEnded(new Date(beforeMs));

  return {
    removeEnded,
    nextTurns: takeNextTurns,
    findUnstarted,
    markHandedOver,
    endExpired,
    findDirtyFiles,
    removeOrphans,
  };
}

export type SweepActivities = ReturnType<typeof createSweepActivities>;
