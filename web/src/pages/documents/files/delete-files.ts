import { ApiError } from '../../../api/api-error';
import { send } from '../../../api/client';
import { isOver } from '../uploads/upload';
import { uploadQueue } from '../uploads/upload-queue';

const AT_ONCE = 2;
/** Refusals of the user or of all requests: the next file would meet them as well. */
const REFUSED = new Set([401, 403, 429]);

async function deleteFile(partition: string, file: string): Promise<void> {
  const path = `/indexer/partition/${encodeURIComponent(partition)}/file/${encodeURIComponent(file)}`;
  await send(path, { method: 'DELETE' }).catch((error: unknown) => {
    const isGone = error instanceof ApiError && error.status === 404;
    if (!isGone) throw error;
  });
}

function concernsOneFile(error: unknown): boolean {
  return error instanceof ApiError && error.status >= 400 && error.status < 500 && !REFUSED.has(error.status);
}

/**
 * Deletes files. A version that is uploaded meanwhile is not deleted with the one that was meant.
 *
 * @returns those that are left, and why the first of them is
 */
export async function deleteFiles(
  partition: string,
  files: readonly string[],
  onGone: () => void,
): Promise<{ left: string[]; error: unknown }> {
  const before = new Set(
    uploadQueue
      .current()
      .filter(isOver)
      .map(({ id }) => id),
  );
  const isUploadedAnew = (file: string): boolean =>
    uploadQueue
      .current()
      .some((upload) => upload.partition === partition && upload.fileId === file && !before.has(upload.id));
  const waiting = [...files];
  const left: string[] = [];
  let error: unknown = null;
  const deleteInTurn = async (): Promise<void> => {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
      if (isUploadedAnew(file)) continue;
      try {
        await deleteFile(partition, file);
        onGone();
      } catch (reason) {
        error ??= reason;
        left.push(file, ...(concernsOneFile(reason) ? [] : waiting.splice(0)));
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, deleteInTurn));
  return { left, error };
}
