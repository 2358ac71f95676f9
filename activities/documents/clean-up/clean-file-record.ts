import { isFinalState, taskFailure } from '../../../schemas/documents/tasks.js';
import type { FileRecord } from '../../../schemas/documents/documents.js';
import type { Adapters } from '../../ports/adapters.js';
import type { FileTask } from '../../ports/tasks.js';
import { settleFile } from './settle-file.js';
import { releaseQuota } from './release-quota.js';
import { fileOf } from '../commands/file-of.js';

type Stores = Pick<Adapters, 'files' | 'tasks' | 'quotas' | 'claims' | 'blobs' | 'chunks'>;

/** The generations of a file that must stay: the live one and the pending one. */
export function keptGenerations(file: FileRecord): number[] {
  return [
    ...(file.live === null ? [] : [file.live.generation]),
    // The pending task is always the last admitted one.
    ...(file.pending_task === null ? [] : [file.latest_generation]),
  ];
}

/**
 * Removes everything of a file that its record does not keep: chunks, bytes, chunk lists, claims. What to keep is
 * read first, and nothing above `latest_generation` is touched, so an admission in the same moment loses nothing.
 */
export async function cleanFileRecord(
  stores: Stores,
  fileKey: string,
  /** Off: a live version's upload has served its purpose. */
  { keepUploads }: { keepUploads: boolean },
): Promise<void> {
  const file = await fileOf(stores.files, fileKey);
  if (file === undefined || file.deleted_at !== null) await removeEverything(stores, fileKey);
  else await removeLeftovers(stores, file, keepUploads);
}

/**
 * The attachments of a mail that are files of their own go with the last version that has them. Theirs go with them:
 * mails within mails nest no deeper than the admission of attachments allows.
 */
async function removeAttached(
  stores: Stores,
  fileKey: string,
  generations: { keep: readonly number[]; upTo: number },
): Promise<void> {
  for (;;) {
    const dropped = await stores.files.dropAttached(fileKey, generations);
    if (dropped === null) return;
    await removeEverything(stores, dropped.file_key);
  }
}

/** Removes the attachments that no version of a mail has which is kept; all of a mail that is deleted. */
export function cleanAttached(stores: Stores, fileKey: string, file: FileRecord | undefined): Promise<void> {
  const generations =
    file === undefined || file.deleted_at !== null
      ? { keep: [], upTo: Number.MAX_SAFE_INTEGER }
      : { keep: keptGenerations(file), upTo: file.latest_generation };
  return removeAttached(stores, fileKey, generations);
}

async function removeEverything(stores: Stores, fileKey: string): Promise<void> {
  await cleanAttached(stores, fileKey, undefined);
  const tasks = await stores.tasks.listByFile(fileKey);
  for (const task of tasks) {
    if (isFinalState(task.state)) continue;
    const failure = taskFailure('TASK_CANCELLED', 'The file was deleted.');
    await stores.tasks.finish(task.task_id, 'CANCELLED', failure);
  }
  await stores.chunks.deleteFile(fileKey);
  for (const blob of await stores.blobs.listByFile(fileKey)) await stores.blobs.remove(blob.blobId);
  await removeUploads(stores, tasks);
  await stores.claims.releaseFiles([fileKey]);
  await stores.quotas.release(tasks.map((task) => task.task_id));
  await stores.tasks.markCleaned(fileKey, Number.MAX_SAFE_INTEGER);
  // Last: as long as the tombstone stands, the sweep repeats what a crash cut short.
  await stores.files.removeTombstone(fileKey);
}

/**
 * Of ended tasks that nothing was cleaned up after yet. Bytes are stored before it is known which file they are of:
 * those of a gateway that died before it could say so are no file's.
 */
async function removeUploads(stores: Stores, tasks: readonly FileTask[]): Promise<void> {
  for (const task of tasks) if (task.cleaned_at === null) await stores.blobs.remove(task.upload.upload_id);
}

async function removeLeftovers(stores: Stores, file: FileRecord, keepUploads: boolean): Promise<void> {
  const keep = keptGenerations(file);
  const upTo = file.latest_generation;
  await stores.chunks.deleteGenerations(file.file_key, { keep, upTo });
  for (const blob of await stores.blobs.listByFile(file.file_key)) {
    const kept = keep.includes(blob.generation);
    const spent = blob.generation === file.live?.generation && (blob.kind === 'chunks' || !keepUploads);
    if (blob.generation <= upTo && (!kept || spent)) await stores.blobs.remove(blob.blobId);
  }
  // Before the tasks: each is recorded before it claims, and stays so until it has let go.
  const claims = await stores.claims.listByFile(file.file_key);
  const tasks = await stores.tasks.listByFile(file.file_key);
  // One that was admitted since the record was read may have ended by now, and its version be the live one.
  const ended = tasks.filter(
    (task) =>
      isFinalState(task.state) &&
      task.generation <= upTo &&
      task.task_id !== file.live?.task_id &&
      task.task_id !== file.pending_task,
  );
  await removeUploads(stores, ended);
  const recorded = new Set(tasks.map((task) => task.task_id));
  // The record of a version's task goes with its time, and the claim stands until the version is replaced.
  const forgotten = claims
    .flatMap(({ holders }) => holders)
    .filter((holder) => !recorded.has(holder) && ![file.live?.task_id, file.pending_task].includes(holder));
  await stores.claims.release([...ended.map((task) => task.task_id), ...forgotten]);
  // Those that were cleaned up after hold no place: a file that is uploaded every minute has thousands of them.
  for (const { task_id: taskId, cleaned_at: cleanedAt } of ended)
    if (cleanedAt === null) await releaseQuota(stores, { taskId, fileKey: file.file_key });
  await cleanAttached(stores, file.file_key, file);
  await settleFile(stores, file);
  await stores.tasks.markCleaned(file.file_key, upTo);
}
