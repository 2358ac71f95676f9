import type { TaskHead, TaskRecord } from '../../schemas/documents/tasks.js';
import type { UploadInfo, FileVersion } from '../../schemas/documents/documents.js';
import { AppError } from '../../schemas/app-error.js';
import { PLAIN_KINDS, kindOfMimetype } from './parsing/file-types.js';
import type { Adapters } from '../ports/adapters.js';

/** The input of activities: ids only. Bytes and text stay in the stores, so histories stay small. */
export interface DocumentRef {
  taskId: string;
  fileKey: string;
  generation: number;
  /** A live version of another file is copied, instead of an upload read. */
  copy?: boolean;
  /** The task has a completion callback. */
  callback?: boolean;
  /** A small text: it is read, embedded and published within the task of its plan. */
  small?: boolean;
  /** Of the request that the task came with, for log lines; `workflows/request-id.ts` reads it. */
  requestId?: string;
  /** The span of that request; read there likewise. */
  traceparent?: string;
}

/** For the start of a plan: the names are for people in Temporal's UI, the plan itself knows keys alone. */
export interface TaskToStart extends DocumentRef {
  partition?: string;
  fileId?: string;
}

/** What is needed to start the plan of a task. */
export function taskToStart(task: TaskHead): TaskToStart {
  return {
    partition: task.partition,
    fileId: task.file_id,
    taskId: task.task_id,
    fileKey: task.file_key,
    generation: task.generation,
    ...(task.kind === 'copy' ? { copy: true } : {}),
    ...(task.has_callback === true ? { callback: true } : {}),
    ...(isSmallText(task) ? { small: true } : {}),
    ...(task.request_id === undefined ? {} : { requestId: task.request_id }),
    ...(task.traceparent === undefined ? {} : { traceparent: task.traceparent }),
  };
}

/** The longest one is cut into more chunks than go through at once, with the usual size of chunks. */
const SMALL_BYTES = 32 * 1024;

/** Whether all of it is done in moments: what is read by no code but ours, and is short. */
export function isSmallText({ kind, upload }: Pick<TaskRecord, 'kind' | 'upload'>): boolean {
  if (kind !== 'index' || upload.size_bytes > SMALL_BYTES) return false;
  const read = kindOfMimetype(upload.mimetype);
  return read !== undefined && PLAIN_KINDS.has(read);
}

/**
 * What the record of a version says and its chunks say too. Chunks are written before the version is published, so
 * `indexed_at` is the time at which its indexing began. The client's words go before what enrichment added.
 */
export function versionFacts(task: TaskRecord): UploadInfo & Pick<FileVersion, 'metadata' | 'indexed_at'> {
  return {
    ...task.upload,
    metadata: { ...task.derived_metadata, ...task.metadata },
    indexed_at: task.started_at ?? task.created_at,
  };
}

/** @throws AppError TASK_CANCELLED when the task has ended; the plan then only cleans up. */
export function requireActive(task: TaskRecord | null): TaskRecord {
  if (task === null || task.finished_at !== null) throw new AppError('TASK_CANCELLED');
  return task;
}

/** @throws AppError TASK_CANCELLED, as above */
export async function readActiveTask(tasks: Adapters['tasks'], ref: DocumentRef): Promise<TaskRecord> {
  return requireActive(await tasks.get(ref.taskId));
}
