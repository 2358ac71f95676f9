import type { Adapters } from '../../activities/ports.js';
import { finishUserDeletion } from '../../activities/reconcile/finish-user-deletion.js';
import { AppError } from '../../schemas/app-error.js';
import { deletePartition } from './delete-partition.js';
import type { DeletePartitionDeps } from './delete-partition.js';

export type DeleteUserDeps = DeletePartitionDeps & Pick<Adapters, 'users'>;

/**
 * Deletes a user, and the partitions that nobody else owns. The record becomes a mark in one update: from then on its
 * token is dead and nobody sees it. What follows is repeated by the sweep if this process dies in it.
 * @returns false when there is no such user
 */
export const deleteUser = async (deps: DeleteUserDeps, userId: number): Promise<boolean> => {
  if (!(await deps.users.markDeleted(userId))) return false;
  await finishUserDeletion(deps, (partition) => deleteIfThere(deps, partition), userId);
  return true;
};

const deleteIfThere = async (deps: DeletePartitionDeps, partition: string): Promise<void> => {
  await deletePartition(deps, partition).catch((error: unknown) => {
    if (!(error instanceof AppError) || error.code !== 'PARTITION_NOT_FOUND') throw error;
  });
};
