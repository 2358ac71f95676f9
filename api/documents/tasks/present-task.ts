import { formatFileSize } from '../../../activities/text/format-file-size.js';
import type { Metadata } from '../../../schemas/documents/documents.js';
import { degradedStagesOf } from '../../../schemas/documents/tasks.js';
import type { TaskHead, TaskRecord } from '../../../schemas/documents/tasks.js';
import { inScope } from '../../../schemas/documents/users.js';
import type { Principal } from '../../../schemas/documents/users.js';
import type { QueueTask, TaskStatus } from '../../../schemas/documents/documents-api.js';
import { indexWorkflowId } from '../../../schemas/ids.js';
import type { Links } from '../../http/links.js';
import type { CallerContext } from '../../http/route.js';

type TaskReader = Pick<CallerContext, 'principal' | 'scope'>;

const MAX_ERROR_CHARACTERS = 8000;
const ASK_AN_ADMINISTRATOR = 'Ask an administrator for the details of this error.';

/** The upload's metadata with the server's own keys, which win. */
function detailsOf(task: TaskRecord): Metadata {
  return {
    ...task.metadata,
    file_id: task.file_id,
    partition: task.partition,
    filename: task.upload.filename,
    original_filename: task.upload.original_filename,
    source: task.upload.filename,
    file_size: formatFileSize(task.upload.size_bytes),
    content_sha256: task.upload.content_sha256,
    ...(task.relationship_id === null ? {} : { relationship_id: task.relationship_id }),
    ...(task.parent_id === null ? {} : { parent_id: task.parent_id }),
  };
}

/** What went wrong, as the API tells it: a failure, or the newer upload that took this one's place. */
export function shownError(task: TaskRecord): TaskRecord['error'] {
  return task.state === 'FAILED' || task.error?.code === 'SUPERSEDED' ? task.error : null;
}

/** Whether a reader may know what the file is: administrators see the tasks of all users, but not their files. */
export function knowsFile({ principal, scope }: TaskReader, task: TaskHead): boolean {
  return task.user_id === principal.userId || inScope(scope, task.partition);
}

/** @param task with the partition that its file is in now */
export function presentTask(task: TaskRecord, link: Links, reader: TaskReader): TaskStatus {
  const error = shownError(task);
  const known = knowsFile(reader, task);
  const degraded = degradedStagesOf(task);
  return {
    task_id: task.task_id,
    task_state: task.state,
    details: {
      file_id: known ? task.file_id : '',
      partition: task.partition,
      metadata: known ? detailsOf(task) : {},
      user_id: task.user_id,
    },
    stage: task.stage,
    progress: task.progress,
    attempt: task.attempt,
    created_at: task.created_at.toISOString(),
    started_at: task.started_at?.toISOString() ?? null,
    finished_at: task.finished_at?.toISOString() ?? null,
    ...(degraded.length === 0 ? {} : { degraded: true, degraded_stages: degraded }),
    ...(known && task.parse_report !== undefined ? { parse_report: task.parse_report } : {}),
    ...(error === null ? {} : { error: { code: error.code, message: error.message } }),
    ...(task.state === 'FAILED' ? { error_url: link.taskError(task.task_id) } : {}),
  };
}

/**
 * A row of the queue's list.
 * @param prefix of the ids of this installation in Temporal
 */
export function presentQueueTask(
  task: TaskRecord,
  { link, reader, prefix }: { link: Links; reader: TaskReader; prefix: string },
): QueueTask {
  const presented = presentTask(task, link, reader);
  const { task_id, task_state: state, details, created_at, error, error_url } = presented;
  const { started_at: from, finished_at: to } = task;
  return {
    task_id,
    state,
    details,
    created_at,
    url: link.task(task_id),
    duration_ms: from === null || to === null ? null : to.getTime() - from.getTime(),
    ...(error === undefined ? {} : { error }),
    ...(error_url === undefined ? {} : { error_url }),
    ...(reader.principal.isAdmin && {
      workflow_id: indexWorkflowId(prefix, task.file_key, task.generation),
    }),
  };
}

/** Traces tell of the inside of the service: administrators read them, others a line that sends them there. */
export function presentTaskError(
  task: TaskRecord,
  error: NonNullable<TaskRecord['error']>,
  reader: Principal,
) {
  const summary = `[${error.code}]: ${error.message}`.slice(0, MAX_ERROR_CHARACTERS);
  if (!reader.isAdmin) return { task_id: task.task_id, summary, traceback: [ASK_AN_ADMINISTRATOR] };
  const traceback = error.traceback.join('\n').slice(0, MAX_ERROR_CHARACTERS);
  return {
    task_id: task.task_id,
    reason: error.code,
    summary,
    traceback: traceback === '' ? [] : traceback.split('\n'),
  };
}
