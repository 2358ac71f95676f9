import { isActiveState, taskFailure } from '../../schemas/documents/tasks.js';
import { RESTORED_WHILE_WAITING } from '../../schemas/signals/signals.js';
import type { DeliveryState } from '../../schemas/signals/signals.js';
import type { StoredDocument } from '../ports/backups.js';
import type { StoredFile, StoredTask } from './stored-records.js';

/** What becomes of records on their way back. Pure functions of a record; null: it is left out. */

/** What is there besides the record and may be needed to judge it. */
export interface Surroundings {
  /** Whether a task with this id is there and has not ended. */
  isActiveTask(id: string): boolean;
  now: Date;
}

/**
 * An alert that waited may have been sent since the backup, and CAPI would count it twice: it is withheld until an
 * operator releases it.
 */
function restoredAlert(alert: StoredDocument): StoredDocument {
  if ((alert['state'] as DeliveryState) !== 'waiting') return alert;
  return { ...alert, state: 'withheld' satisfies DeliveryState, state_reason: RESTORED_WHILE_WAITING };
}

/** What holds a place for a task under way is taken anew by those that are restored. */
function restoredUser({ pending_tasks: _tasks, quota_turn: _turn, ...user }: StoredDocument): StoredDocument {
  return user;
}

/** A swap of the embedder is not taken up: its vectors are not in the backup. */
function restoredPartition({ swap: _swap, ...partition }: StoredDocument): StoredDocument {
  return partition;
}

/** Of a task that had not ended and whose file is not in the backup nothing is left to be done. */
function restoredTask(task: StoredDocument, { now }: Surroundings): StoredDocument {
  if (!isActiveState(task['state'])) return task;
  return {
    ...task,
    state: 'CANCELLED',
    error: taskFailure('TASK_CANCELLED', 'It had not been taken up when the backup was made.'),
    finished_at: now,
    handed_over_at: now,
    cleaned_at: now,
  };
}

/** The callback of a task that has ended may have been made since the backup. */
function restoredCallback(callback: StoredDocument, { isActiveTask, now }: Surroundings): StoredDocument {
  if (callback['state'] !== 'waiting' || isActiveTask(String(callback._id))) return callback;
  return { ...callback, state: 'withdrawn', updated_at: now };
}

/** A run that was at work is not taken up; what it has found so far stays. */
function restoredEvaluation(run: StoredDocument, { now }: Surroundings): StoredDocument {
  if (run['status'] !== 'running') return run;
  return { ...run, status: 'cancelled', finished_at: now };
}

const CHANGES: Readonly<Record<string, (record: StoredDocument, around: Surroundings) => StoredDocument>> = {
  alerts: restoredAlert,
  users: restoredUser,
  partitions: restoredPartition,
  tasks: restoredTask,
  callbacks: restoredCallback,
  evaluation_runs: restoredEvaluation,
};

export function restoredRecord(
  collection: string,
  record: StoredDocument,
  around: Surroundings,
): StoredDocument {
  return CHANGES[collection]?.(record, around) ?? record;
}

/** What a file refers to, as far as it is in the backup. */
export interface Referents {
  hasPartition: boolean;
  hasUser: boolean;
  workspaces: ReadonlySet<unknown>;
}

/** Null: its partition was deleted while the backup was made. */
export function restoredFile(file: StoredFile, referents: Referents): StoredFile | null {
  if (!referents.hasPartition) return null;
  return {
    ...file,
    created_by: referents.hasUser ? file.created_by : null,
    ...(file.workspaces === undefined
      ? {}
      : { workspaces: file.workspaces.filter((key) => referents.workspaces.has(key)) }),
  };
}

/**
 * A task begins anew, under a generation of its own: Temporal may remember a workflow of the former one. What the steps
 * left for each other is not in a backup.
 */
export function restoredPendingTask(task: StoredTask, generation: number): StoredTask {
  const {
    derived_metadata: _metadata,
    context_parts: _contexts,
    pictures: _pictures,
    degraded_stages: _stages,
    parse_report: _report,
    ...rest
  } = task;
  return {
    ...(rest as StoredTask),
    generation,
    state: 'QUEUED',
    stage: 'queued',
    progress: 0,
    attempt: 0,
    error: null,
    started_at: null,
    finished_at: null,
    handed_over_at: null,
    cleaned_at: null,
  };
}
