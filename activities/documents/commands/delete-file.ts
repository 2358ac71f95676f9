import type { FileRecord } from '../../../schemas/documents/documents.js';
import { askTemporal } from '../../temporal/ask-temporal.js';
import { endTask } from './end-task.js';
import type { EndTaskDeps } from './end-task.js';
import { noSuchFile } from './refusals.js';
import { taskFailure } from '../../../schemas/documents/tasks.js';

export type DeleteFileDeps = EndTaskDeps;

/** What the record of a deleted file said before. */
export type DeletedFile = Pick<FileRecord, 'file_key' | 'pending_task' | 'latest_generation'>;

/** Of many files: so many are named to the stores in one call, and so many are told to Temporal at one time. */
const PAGE = 1_000;
const TOLD_AT_ONCE = 20;
/** A client waits meanwhile. The sweep takes the clean-up of all others. */
const TOLD_IN_ALL = 400;

/**
 * Deletes a file: its record becomes a tombstone in one update, and nothing of it is visible from then on. The
 * pending task ends CANCELLED, the content claim is free, and the clean-up workflow (or the sweep) removes the rest.
 * @throws AppError FILE_NOT_FOUND (404), plain
 */
export async function deleteFile(
  deps: DeleteFileDeps,
  input: { partition: string; fileId: string; fileKey?: string },
): Promise<void> {
  const before = await deps.files.markDeleted(input.partition, input.fileId, input.fileKey);
  if (before === null) throw noSuchFile(input);
  await finishFileDeletion(deps, before);
}

/**
 * What follows once a file's record has become a tombstone. It never throws: the record has decided.
 * @param before the record as it was
 */
export async function finishFileDeletion(deps: DeleteFileDeps, before: DeletedFile): Promise<void> {
  // What fails from here on is made good by the sweep, and the file is gone all the same.
  const orElseSweep =
    (what: string) =>
    (error: unknown): void =>
      deps.log.warn({ err: error, file_key: before.file_key }, `${what} is left to the sweep`);
  const pending =
    before.pending_task === null
      ? undefined
      : await endTask(deps, before.pending_task, 'TASK_CANCELLED').catch(
          orElseSweep('ending the pending task'),
        );
  await deps.claims.releaseFiles([before.file_key]).catch(orElseSweep('releasing the content claim'));
  await Promise.all([
    pending?.told,
    askTemporal(deps.log, `cleaning up after file ${before.file_key}`, () =>
      deps.workflows.startCleaning(before.file_key, before.latest_generation),
    ),
  ]);
}

/**
 * The same of any number of files. The stores and Temporal serve others too, so it goes some at a time: first what the
 * records hold, then Temporal is told of a few hundred files, for as long as it answers.
 */
export async function finishFileDeletions(
  deps: DeleteFileDeps,
  deleted: readonly DeletedFile[],
): Promise<void> {
  for (let from = 0; from < deleted.length; from += PAGE)
    await letGo(deps, deleted.slice(from, from + PAGE)).catch((error: unknown) => {
      deps.log.warn({ err: error }, 'ending the tasks of deleted files is left to the sweep');
    });
  for (let from = 0; from < Math.min(deleted.length, TOLD_IN_ALL); from += TOLD_AT_ONCE) {
    const group = deleted.slice(from, from + TOLD_AT_ONCE);
    const answers = await Promise.all(group.map((before) => tellOfDeletion(deps, before)));
    if (answers.includes(false)) break;
  }
}

/** Their pending tasks read CANCELLED, and their bytes may be uploaded again. */
async function letGo(
  { tasks, quotas, claims }: DeleteFileDeps,
  deleted: readonly DeletedFile[],
): Promise<void> {
  const pending = deleted.flatMap(({ pending_task: taskId }) => (taskId === null ? [] : [taskId]));
  await tasks.cancelMany(pending, taskFailure('TASK_CANCELLED'));
  await claims.releaseFiles(deleted.map(({ file_key: fileKey }) => fileKey));
  await quotas.release(pending);
}

/** @returns whether Temporal answered */
async function tellOfDeletion(
  { workflows, log }: DeleteFileDeps,
  { file_key, pending_task, latest_generation: generation }: DeletedFile,
): Promise<boolean> {
  return askTemporal(log, `cleaning up after file ${file_key}`, async () => {
    if (pending_task !== null) await workflows.cancelIndexing({ file_key, generation });
    await workflows.startCleaning(file_key, generation);
  });
}
