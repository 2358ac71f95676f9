import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { AppError } from '../../../schemas/app-error.js';
import type { FileRecord, FileVersion, Metadata, UploadInfo } from '../../../schemas/documents/documents.js';
import type { TaskRecord } from '../../../schemas/documents/tasks.js';
import { admitTask, newFileKey } from './admit-task.js';
import { attachedId, digitsOf, followFile, isSaidOfIt, waitingFile } from './attach-files.js';
import type { Attached, AttachedFiles, AttachmentStores } from './attach-files.js';
import type { UploadToAdmit } from './new-task.js';

interface CopiedMail {
  /** Of the copy. */
  task: TaskRecord;
  /** The version that is copied. */
  source: FileVersion;
  signal: AbortSignal;
}

/** What a copy of an attachment is made from. */
interface Original {
  upload: UploadInfo;
  metadata: Metadata;
  /** The version to copy; null where there is none yet, but bytes to read. */
  source: { file_key: string; generation: number } | null;
}

/**
 * Admits copies of a mail's attachments, those that are files of their own, for the copy of the mail: under names as
 * if the copy had been read, for its uploader, whose quota counts them. Repeating it is harmless. Null: it has none.
 * @throws AppError TASK_CANCELLED when the copy was deleted meanwhile; nothing of this version is left then
 */
export async function copyAttached(deps: AttachmentStores, mail: CopiedMail): Promise<AttachedFiles | null> {
  const { task, source } = mail;
  const known = source.parse_report?.attachments;
  if (known === undefined) return null;
  const originals = await originalsOf(deps, task);
  const file = await waitingFile(deps, task);
  const attachments: Attached[] = [];
  const lost: string[] = [];
  for (const one of known) {
    mail.signal.throwIfAborted();
    const original = one.file_id === null ? null : (originals.get(one.file_id) ?? null);
    if (one.file_id === null) attachments.push(one);
    else if (original === null)
      attachments.push({
        ...one,
        file_id: null,
        reason: 'There is no such file where the mail was copied from.',
      });
    else
      try {
        attachments.push({ ...one, file_id: await copyOne(deps, mail, file, original) });
      } catch (error) {
        if (!isSaidOfIt(error)) throw error;
        attachments.push({ ...one, file_id: null, reason: error.message });
        lost.push(`${one.name} was not copied: ${error.message}`);
      }
  }
  await followFile(deps, task);
  return { attachments, lost };
}

/** The files that belong to the version that is copied, by id. */
async function originalsOf(
  { files }: AttachmentStores,
  { source }: TaskRecord,
): Promise<Map<string, FileRecord>> {
  if (source === undefined) return new Map();
  const all = await files.listAttached(source.file_key);
  const theirs = all.filter(({ attached }) => attached?.generations.includes(source.generation));
  return new Map(theirs.map((file) => [file.file_id, file]));
}

async function copyOne(
  deps: AttachmentStores,
  { task, source, signal }: CopiedMail,
  copy: FileRecord,
  file: FileRecord,
): Promise<string> {
  const fileId = attachedId(task.file_id, digitsOf(file.file_id));
  const attachedTo = { fileKey: task.file_key, generation: task.generation };
  if (await deps.files.keepAttached({ fileId, attachedTo })) return fileId;
  const original = await originalOf(deps, file);
  const upload = { ...original.upload, upload_id: randomUUID() };
  const foreseen = { fileKey: newFileKey(), generation: await deps.counters.nextGeneration() };
  // One that is not read yet is read as a copy too.
  if (original.source === null)
    await deps.blobs.write(
      { blobId: upload.upload_id, kind: 'upload', taskId: upload.upload_id, ...foreseen },
      await deps.blobs.read(original.upload.upload_id),
      signal,
    );
  const admission: UploadToAdmit = {
    intent: 'create',
    partition: copy.partition,
    partitionKey: copy.partition_key,
    fileId,
    userId: task.user_id,
    upload,
    metadata: { ...original.metadata, ...givenWords(task.metadata, source.metadata) },
    relationshipId: task.relationship_id ?? task.file_id,
    parentId: task.file_id,
    embedder: task.embedder,
    workspaces: copy.workspaces,
    ...(original.source === null ? {} : { source: original.source }),
    foreseen,
    attachedTo,
    attachmentDepth: (task.attachment_depth ?? 0) + 1,
    taskUrl: (taskId) => taskId,
  };
  try {
    await admitTask({ ...deps, deduplicate: false }, admission);
  } catch (error) {
    await deps.blobs.remove(upload.upload_id);
    throw error;
  }
  return fileId;
}

/** @throws AppError FILE_CORRUPT when there is neither a version nor a task that is about to make one */
async function originalOf({ tasks }: AttachmentStores, file: FileRecord): Promise<Original> {
  const { live, file_key } = file;
  if (live !== null) {
    const { upload_id, filename, original_filename, mimetype, size_bytes, content_sha256, metadata } = live;
    const upload = { upload_id, filename, original_filename, mimetype, size_bytes, content_sha256 };
    return { upload, metadata, source: { file_key, generation: live.generation } };
  }
  const pending = file.pending_task === null ? null : await tasks.get(file.pending_task);
  if (pending === null)
    throw new AppError('FILE_CORRUPT', 'It could not be indexed where it was copied from.');
  return { upload: pending.upload, metadata: pending.metadata, source: pending.source ?? null };
}

/** What was said when the mail was copied: it is said of its attachments too. */
function givenWords(words: Metadata, before: Metadata): Metadata {
  return Object.fromEntries(
    Object.entries(words).filter(([key, value]) => !isDeepStrictEqual(value, before[key])),
  );
}
