import type { Adapters } from '../../ports/adapters.js';
import { AppError } from '../../../schemas/app-error.js';
import { deleteFile, finishFileDeletion } from './delete-file.js';
import type { DeleteFileDeps } from './delete-file.js';
import { reconcileDeletedUser } from './delete-user.js';
import type { DeleteUserDeps } from './delete-user.js';
import { noSuchPartition } from './refusals.js';

type ConfirmPartitionDeps = DeleteFileDeps & Pick<Adapters, 'partitions'>;

interface Placed {
  partition: string;
  partitionKey: string;
  fileId: string;
  fileKey: string;
}

/**
 * Asked once a file is in its place: what the place is made of may have been deleted in this moment, and its deletion
 * took what it found then. Either the deletion finds the file, or this finds the deletion. What cannot be found out
 * now is no refusal, since the file is admitted: its publication asks again, and so does the reconciler.
 * @param input.workspaces keys of those that the file was put into
 * @throws AppError PARTITION_NOT_FOUND, or WORKSPACE_NOT_FOUND when none of several is left (404), plain; the file is
 *   deleted then
 */
export async function confirmAdmission(
  deps: DeleteUserDeps & ConfirmPartitionDeps & Pick<Adapters, 'workspaces'>,
  input: Placed & { userId: number; workspaces: readonly string[] },
): Promise<void> {
  const { userId, fileKey, workspaces: keys } = input;
  // Of a deleted user the partitions are deleted; in those of others the file stays without an uploader.
  await reconcileDeletedUser(deps, userId).catch((error: unknown) => {
    deps.log.warn({ err: error, user_id: userId }, 'whether an uploader still exists is unknown');
  });
  await confirmPartition(deps, input);
  if (keys.length === 0) return;
  const left = await confirmWorkspaces(deps, fileKey, keys).catch((error: unknown) => {
    deps.log.warn(
      { err: error, file_key: fileKey },
      'whether the workspaces of an upload still exist is unknown',
    );
    return keys;
  });
  if (left.length === 0) throw new AppError('WORKSPACE_NOT_FOUND', 'Workspace not found', { plain: true });
}

/**
 * The part of it that a move needs.
 * @throws AppError PARTITION_NOT_FOUND (404), plain
 */
export async function confirmPartition(deps: ConfirmPartitionDeps, input: Placed): Promise<void> {
  const { partition, partitionKey } = input;
  const found = await deps.partitions.get(partition).catch((error: unknown) => {
    deps.log.warn({ err: error, partition }, 'whether the partition of a file still exists is unknown');
    return { partition_key: partitionKey };
  });
  if (found?.partition_key === partitionKey) return;
  await deleteFile(deps, input).catch((error: unknown) => {
    if (!(error instanceof AppError) || error.code !== 'FILE_NOT_FOUND') throw error;
  });
  throw noSuchPartition(partition);
}

/**
 * The part of it that a new member of a workspace needs: a file that is in no other is let go.
 * @returns the keys of the workspaces that are still there
 */
async function confirmWorkspaces(
  deps: DeleteFileDeps & Pick<Adapters, 'workspaces'>,
  fileKey: string,
  keys: readonly string[],
): Promise<string[]> {
  const present = await deps.workspaces.getMany(keys);
  for (const key of keys) {
    if (present.has(key)) continue;
    const answer = await deps.files.releaseWorkspace(fileKey, key, { keepFile: false });
    if (answer.outcome === 'orphaned') await finishFileDeletion(deps, answer.before);
  }
  return [...present.keys()];
}
