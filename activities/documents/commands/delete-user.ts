import type { Adapters } from '../../ports/adapters.js';
import { finishUserDeletion } from '../clean-up/finish-user-deletion.js';
import { AppError } from '../../../schemas/app-error.js';
import { deletePartition } from './delete-partition.js';
import type { DeletePartitionDeps } from './delete-partition.js';

export type DeleteUserDeps = DeletePartitionDeps & Pick<Adapters, 'users' | 'conversations'>;

/**
 * Deletes a user, and the partitions without another owner. The record becomes a mark in one update: from then on its
 * token is refused and it is not listed. What follows is repeated by the sweep if this process dies in it.
 * @returns false when there is no such user
 */
export async function deleteUser(deps: DeleteUserDeps, userId: number): Promise<boolean> {
  if (!(await deps.users.markDeleted(userId))) return false;
  await finish(deps, userId);
  return true;
}

/**
 * Called after a user was given something: what a user gets while it is being deleted was not there yet when its
 * partitions and files were removed, and is removed now.
 * @returns whether the user is deleted
 */
export async function reconcileDeletedUser(deps: DeleteUserDeps, userId: number): Promise<boolean> {
  if ((await deps.users.get(userId)) !== null) return false;
  await finish(deps, userId);
  return true;
}

function finish(deps: DeleteUserDeps, userId: number): Promise<void> {
  return finishUserDeletion(deps, (partition) => deleteIfThere(deps, partition), userId);
}

async function deleteIfThere(deps: DeletePartitionDeps, partition: string): Promise<void> {
  await deletePartition(deps, partition).catch((error: unknown) => {
    if (!(error instanceof AppError) || error.code !== 'PARTITION_NOT_FOUND') throw error;
  });
}
