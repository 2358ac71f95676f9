import { AppError } from '../../../schemas/app-error.js';
import type { FileRecord } from '../../../schemas/documents/documents.js';
import { askTemporal } from '../../temporal/ask-temporal.js';
import { endTask } from './end-task.js';
import type { EndTaskDeps } from './end-task.js';

export type DeleteFileDeps = EndTaskDeps;

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
  if (before === null)
    throw new AppError(
      'FILE_NOT_FOUND',
      `File '${input.fileId}' not found in partition '${input.partition}'`,
      {
        plain: true,
      },
    );
  await finishFileDeletion(deps, before);
}

/**
 * What follows once a file's record has become a tombstone. It never throws: the record has decided.
 * @param before the record as it was
 */
export async function finishFileDeletion(
  deps: DeleteFileDeps,
  before: Pick<FileRecord, 'file_key' | 'pending_task' | 'latest_generation'>,
): Promise<void> {
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
