import { AppError } from '../../../schemas/app-error.js';
import type { PartitionRecord } from '../../../schemas/documents/partitions.js';
import type { Adapters } from '../../ports/adapters.js';
import { finishPartitionDeletion } from '../clean-up/finish-partition-deletion.js';
import type { FinishPartitionDeletionStores } from '../clean-up/finish-partition-deletion.js';
import { requirePartitionName } from './identifiers.js';

export interface CreatePartitionDeps extends FinishPartitionDeletionStores {
  models: Adapters['models'];
  maxPartitionsPerUser: number;
}

/**
 * Whether a user may create this partition: everything that can be said before it is done.
 * @throws AppError BAD_REQUEST, RESERVED_PARTITION_NAME, PARTITION_LIMIT_EXCEEDED
 */
export async function requireMayCreatePartition(
  deps: Pick<CreatePartitionDeps, 'partitions' | 'maxPartitionsPerUser'>,
  input: { partition: string; userId: number },
): Promise<void> {
  requirePartitionName(input.partition);
  const memberships = await deps.partitions.memberships(input.userId);
  if (memberships.filter(({ role }) => role === 'owner').length >= deps.maxPartitionsPerUser)
    throw new AppError('PARTITION_LIMIT_EXCEEDED');
}

/**
 * Creates a partition owned by the caller, on the default embedder.
 * @throws AppError as above; PARTITION_EXISTS; MODEL_ENDPOINT_NOT_FOUND when no embedder is registered
 */
export async function createPartition(
  deps: CreatePartitionDeps,
  input: { partition: string; userId: number },
): Promise<PartitionRecord> {
  requirePartitionName(input.partition);
  if ((await deps.partitions.get(input.partition)) !== null) throw new AppError('PARTITION_EXISTS');
  await requireMayCreatePartition(deps, input);
  const embedder = await deps.models.defaultName('embedder');
  if (embedder === null) throw new AppError('MODEL_ENDPOINT_NOT_FOUND', 'No default embedder is registered');
  const wanted = { partition: input.partition, embedder, ownerId: input.userId };
  try {
    return await deps.partitions.create(wanted);
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'CONFLICT') throw error;
    // One of this name is being deleted, and that process may have died: the deletion is finished here.
    for (const deleted of await deps.partitions.listDeleted())
      if (deleted.partition === input.partition) await finishPartitionDeletion(deps, deleted);
    return deps.partitions.create(wanted);
  }
}
