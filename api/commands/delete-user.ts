import type { Adapters } from '../../activities/ports.js';
import { finishUserDeletion, soleOwnerships } from '../../activities/reconcile/finish-user-deletion.js';
import type { DeletePartition } from '../../activities/reconcile/finish-user-deletion.js';
import { AppError } from '../../schemas/app-error.js';

export interface DeleteUserDeps extends Pick<Adapters, 'users' | 'partitions' | 'files' | 'workspaces'> {
  /** Null while the service cannot delete partitions: then a user who alone owns one cannot be deleted. */
  deletePartition: DeletePartition | null;
}

/**
 * Deletes a user. The record becomes a mark in one update: from then on its token is dead and nobody sees it. What
 * follows is repeated by the sweep if this process dies in it.
 * @returns false when there is no such user
 * @throws AppError NOT_IMPLEMENTED while partitions cannot be deleted
 */
export const deleteUser = async (deps: DeleteUserDeps, userId: number): Promise<boolean> => {
  const deletePartition = deps.deletePartition ?? refuseToDelete;
  if (deps.deletePartition === null && (await soleOwnerships(deps, userId)).length > 0) refuseToDelete();
  if (!(await deps.users.markDeleted(userId))) return false;
  await finishUserDeletion(deps, deletePartition, userId);
  return true;
};

const refuseToDelete = (): never => {
  throw new AppError('NOT_IMPLEMENTED', 'A user who owns partitions cannot be deleted in this release.');
};
