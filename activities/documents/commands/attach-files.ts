import { createHash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { AppError } from '../../../schemas/app-error.js';
import type { FileRecord } from '../../../schemas/documents/documents.js';
import type { ParseReport } from '../../../schemas/documents/parse-report.js';
import type { TaskRecord } from '../../../schemas/documents/tasks.js';
import type { ErrorCode } from '../../../schemas/error-table.js';
import type { IndexationConfig } from '../../../schemas/models/presets.js';
import type { Adapters } from '../../ports/adapters.js';
import { cleanAttached } from '../clean-up/clean-file-record.js';
import { bringAttached, settleChunks } from '../clean-up/settle-file.js';
import { abilitiesOf } from '../parsing/abilities.js';
import { checkContent } from '../parsing/content-check.js';
import { mimetypeOfKind, resolveFileKind } from '../parsing/file-types.js';
import type { Abilities, FileKind } from '../parsing/file-types.js';
import type { TakenAttachment } from '../parsing/parser-messages.js';
import { openFileBytes } from '../parsing/random-access-bytes.js';
import { admitTask, newFileKey } from './admit-task.js';
import type { AdmitTaskDeps } from './admit-task.js';
import { safeFilename } from './safe-filename.js';
import { fileOf } from './file-of.js';

export interface AttachmentStores extends Omit<AdmitTaskDeps, 'deduplicate'> {
  chunks: Adapters['chunks'];
}

interface AttachFilesDeps extends AttachmentStores {
  models: Pick<Adapters['models'], 'defaultName'>;
  ocrLanguages: readonly string[];
}

/** A mail that was read, with what was taken out of it. */
interface ReadMail {
  /** Of the mail: its attachments belong to the version that this makes. */
  task: TaskRecord;
  relationshipId: string;
  attachments: readonly TakenAttachment[];
  /** Where they are: files `0`, `1`, …. */
  directory: string;
  preset: IndexationConfig | undefined;
  signal: AbortSignal;
}

export type Attached = NonNullable<ParseReport['attachments']>[number];

export interface AttachedFiles {
  attachments: Attached[];
  /** Why there is no file of some whose type is read. */
  lost: string[];
}

/** A mail, and the mails that are attached to it. What is in those is read as sections of them. */
const MAX_ATTACHMENT_DEPTH = 2;
const MAX_FILE_ID = 255;
const DIGITS = 16;
/** Why there is no file of an attachment; anything else is no fault of it, and is tried again. */
const SAID_OF_IT: ReadonlySet<ErrorCode> = new Set([
  'UNSUPPORTED_MEDIA_TYPE',
  'UNSUPPORTED_CONTENT',
  'FILE_CORRUPT',
  'FILE_ENCRYPTED',
  'FILE_TOO_COMPLEX',
  'BAD_REQUEST',
  'QUOTA_EXCEEDED',
  'FILE_EXISTS',
  'DOCUMENT_INDEXING_IN_PROGRESS',
]);

/** Whether the attachments of a file are to be files of their own. */
export function wantsAttachments(
  preset: IndexationConfig | undefined,
  kind: FileKind,
  task: TaskRecord,
): boolean {
  if (preset?.attachments_as_files !== true || (kind !== 'eml' && kind !== 'msg')) return false;
  return (task.attachment_depth ?? 0) < MAX_ATTACHMENT_DEPTH;
}

/**
 * Admits the attachments of a mail as files of its partition: in its workspaces, with its metadata, for its uploader,
 * whose quota counts them. The name of each follows from the mail's and its content: a mail that is read again, after a
 * crash or as a new version, has the files that it has. They claim no content, since each mail has its own.
 * @throws AppError TASK_CANCELLED when the mail was deleted or replaced meanwhile; nothing of this version is left then
 */
export async function attachFiles(deps: AttachFilesDeps, mail: ReadMail): Promise<AttachedFiles> {
  const { task, attachments, preset } = mail;
  const file = await waitingFile(deps, task);
  const transcriber = preset?.stt ?? (await deps.models.defaultName('stt'));
  const abilities = abilitiesOf({ ocrLanguages: deps.ocrLanguages, transcriber: transcriber !== null });
  const attached: Attached[] = [];
  const lost: string[] = [];
  for (const [index, { name, mimetype }] of attachments.entries()) {
    mail.signal.throwIfAborted();
    const path = join(mail.directory, String(index));
    const digest = await digestOf(path, mail.signal);
    const fileId = attachedId(task.file_id, digest.slice(0, DIGITS));
    const attachedTo = { fileKey: task.file_key, generation: task.generation };
    try {
      if (!(await deps.files.keepAttached({ fileId, attachedTo }))) {
        const kind = await kindOf({ name, mimetype, path }, abilities);
        await admit(deps, mail, { file, fileId, path, name, kind });
      }
      attached.push({ name, file_id: fileId, reason: null });
    } catch (error) {
      if (!isSaidOfIt(error)) throw error;
      attached.push({ name, file_id: null, reason: error.message });
      if (error.code !== 'UNSUPPORTED_MEDIA_TYPE') lost.push(`${name} became no file: ${error.message}`);
    }
  }
  await followFile(deps, task);
  return { attachments: attached, lost };
}

/** Why there is no file of an attachment; any other error is no fault of it. */
export function isSaidOfIt(error: unknown): error is AppError {
  return error instanceof AppError && SAID_OF_IT.has(error.code);
}

/** The id of an attachment: that of its mail, and what says its content. */
export function attachedId(mailId: string, digits: string): string {
  return `${mailId.slice(0, MAX_FILE_ID - DIGITS - 1)}.${digits}`;
}

/** What says the content in the id of an attachment. */
export function digitsOf(fileId: string): string {
  return fileId.slice(-DIGITS);
}

/**
 * Once its attachments are admitted: either the deletion of the mail finds them, or this finds the deletion; and the
 * same of a move.
 * @throws AppError TASK_CANCELLED
 */
export async function followFile(deps: AttachmentStores, task: TaskRecord): Promise<void> {
  const file = await waitingFile(deps, task);
  await bringAttached(deps, file, (attached, token) => settleChunks(deps, attached.file_key, [token]));
}

/**
 * The file that waits for this version.
 * @throws AppError TASK_CANCELLED, once the attachments that nothing keeps are gone
 */
export async function waitingFile(deps: AttachmentStores, task: TaskRecord): Promise<FileRecord> {
  const file = await fileOf(deps.files, task.file_key);
  if (file?.pending_task === task.task_id && file.deleted_at === null) return file;
  await cleanAttached(deps, task.file_key, file);
  throw new AppError('TASK_CANCELLED', 'The file was deleted, or uploaded again.');
}

async function digestOf(path: string, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash, { signal });
  return hash.digest('hex');
}

async function kindOf(
  { name, mimetype, path }: { name: string; mimetype: string; path: string },
  abilities: Abilities,
): Promise<FileKind> {
  const kind = resolveFileKind({ filename: name, mimetype }, abilities);
  const bytes = await openFileBytes(path);
  try {
    await checkContent(kind, bytes);
  } finally {
    await bytes.close();
  }
  return kind;
}

async function admit(
  deps: AttachFilesDeps,
  { task: mail, relationshipId, signal }: ReadMail,
  {
    file,
    fileId,
    path,
    name,
    kind,
  }: { file: FileRecord; fileId: string; path: string; name: string; kind: FileKind },
): Promise<void> {
  const blobId = randomUUID();
  const foreseen = { fileKey: newFileKey(), generation: await deps.counters.nextGeneration() };
  const filename = safeFilename(name);
  const { size, sha256 } = await deps.blobs.write(
    { blobId, kind: 'upload', taskId: blobId, ...foreseen },
    createReadStream(path),
    signal,
  );
  try {
    await admitTask(
      { ...deps, deduplicate: false },
      {
        intent: 'create',
        partition: file.partition,
        partitionKey: file.partition_key,
        fileId,
        userId: mail.user_id,
        upload: {
          upload_id: blobId,
          filename,
          original_filename: name,
          mimetype: mimetypeOfKind(kind),
          size_bytes: size,
          content_sha256: sha256,
        },
        metadata: mail.metadata,
        relationshipId,
        parentId: mail.file_id,
        embedder: mail.embedder,
        workspaces: file.workspaces,
        foreseen,
        attachedTo: { fileKey: mail.file_key, generation: mail.generation },
        attachmentDepth: (mail.attachment_depth ?? 0) + 1,
        taskUrl: (taskId) => taskId,
      },
    );
  } catch (error) {
    await deps.blobs.remove(blobId);
    throw error;
  }
}

/** What the report of a mail says of its attachments. What is of no type that is read is no loss. */
export function reportAttached(report: ParseReport, { attachments, lost }: AttachedFiles): ParseReport {
  const degraded = report.degraded || lost.length > 0;
  return { ...report, attachments, degraded, reasons: [...report.reasons, ...lost] };
}
