import { currentRequestId, currentSpan } from '../../request-scope.js';
import type { FileRecord, Metadata, UploadInfo } from '../../../schemas/documents/documents.js';
import type { TaskRecord } from '../../../schemas/documents/tasks.js';

/** An upload that has passed its own checks and asks to be admitted. */
export interface UploadToAdmit {
  intent: TaskRecord['intent'];
  partition: string;
  /** Which partition of that name. */
  partitionKey: string;
  fileId: string;
  userId: number;
  /** Its bytes are in the blob store under `upload_id`, which becomes the task's id. */
  upload: UploadInfo;
  metadata: Metadata;
  relationshipId: string | null;
  parentId: string | null;
  embedder: string;
  /** Keys of the workspaces that a POST puts the file into. */
  workspaces: readonly string[];
  /** Known to have no quota; otherwise it is looked up. */
  isUnlimited?: boolean;
  /** The record that was found under this name a moment ago; null: none. Left out where it was not looked up. */
  present?: FileRecord | null;
  /** The number that its bytes were stored under already, with the key of the file where that was foreseen. */
  foreseen?: { fileKey: string; generation: number };
  /** Of a copy: the version to copy. */
  source?: { file_key: string; generation: number };
  callback?: { url: string; token: string | null } | null;
  /** Of a file that was taken out of a mail: which version of which, and how many mails are around it. */
  attachedTo?: { fileKey: string; generation: number };
  attachmentDepth?: number;
  taskUrl(taskId: string): string;
}

/** The record of an upload's task before anything has happened to it. */
export function newTask(
  input: UploadToAdmit,
  { fileKey, generation, takesPlace }: { fileKey: string; generation: number; takesPlace: boolean },
): TaskRecord {
  return {
    ...requestOf(),
    task_id: input.upload.upload_id,
    kind: input.source === undefined ? 'index' : 'copy',
    state: 'QUEUED',
    stage: 'queued',
    progress: 0,
    attempt: 0,
    partition: input.partition,
    file_id: input.fileId,
    file_key: fileKey,
    generation,
    user_id: input.userId,
    intent: input.intent,
    metadata: input.metadata,
    relationship_id: input.relationshipId,
    parent_id: input.parentId,
    upload: input.upload,
    ...(input.source === undefined ? {} : { source: input.source }),
    ...(input.callback == null ? {} : { has_callback: true }),
    ...(takesPlace ? {} : { takes_no_place: true }),
    ...(input.attachmentDepth === undefined ? {} : { attachment_depth: input.attachmentDepth }),
    embedder: input.embedder,
    error: null,
    created_at: new Date(),
    started_at: null,
    finished_at: null,
    handed_over_at: null,
    cleaned_at: null,
  };
}

function requestOf(): Pick<TaskRecord, 'request_id' | 'traceparent'> {
  const id = currentRequestId();
  const traceparent = currentSpan();
  return {
    ...(id === undefined ? {} : { request_id: id }),
    ...(traceparent === undefined ? {} : { traceparent }),
  };
}
