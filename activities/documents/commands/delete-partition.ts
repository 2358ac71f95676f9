import { finishPartitionDeletion } from '../clean-up/finish-partition-deletion.js';
import { LASTING_PARTITION } from '../clean-up/finish-user-deletion.js';
import type { Adapters } from '../../ports/adapters.js';
import { AppError } from '../../../schemas/app-error.js';
import { askTemporal } from '../../temporal/ask-temporal.js';
import type { EndTaskDeps } from './end-task.js';
import { noSuchPartition } from './refusals.js';

export type DeletePartitionDeps = EndTaskDeps &
  Pick<Adapters, 'partitions' | 'workspaces' | 'questionSets' | 'evaluationRuns' | 'feedback'>;

/**
 * Deletes a partition with all that is in it. One update of its record makes it invisible, and decides; its running
 * tasks read CANCELLED and its name is free when this returns. The clean-up workflow (or the sweep) stops the work and
 * removes chunks and bytes. Also what a deleted user's partitions go by.
 * @throws AppError AUTH_ERROR (403) for `default`, PARTITION_NOT_FOUND (404), plain
 */
export async function deletePartition(deps: DeletePartitionDeps, partition: string): Promise<void> {
  if (partition === LASTING_PARTITION)
    throw new AppError('AUTH_ERROR', `Partition '${partition}' cannot be deleted`, { plain: true });
  const deleted = await deps.partitions.markDeleted(partition);
  if (deleted === null) throw noSuchPartition(partition);
  // What fails from here on is made good by the sweep, and the partition is gone all the same.
  try {
    await finishPartitionDeletion(deps, deleted);
  } catch (error) {
    deps.log.warn({ err: error, partition }, 'finishing the deletion of a partition is left to the sweep');
  }
  await askTemporal(deps.log, `cleaning up after partition ${partition}`, () =>
    deps.workflows.startCleaningPartition(deleted),
  );
}
