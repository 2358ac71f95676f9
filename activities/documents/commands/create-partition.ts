import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { AppError } from '../../../schemas/app-error.js';
import { ACTIVE_STATES } from '../../../schemas/documents/tasks.js';
import type { PartitionRecord } from '../../../schemas/documents/partitions.js';
import type { Adapters } from '../../ports/adapters.js';
import { finishPartitionDeletion } from '../clean-up/finish-partition-deletion.js';
import type { FinishPartitionDeletionStores } from '../clean-up/finish-partition-deletion.js';
import { requirePartitionName } from './identifiers.js';
import { EVERYTHING } from '../../../schemas/documents/users.js';

/** Several at once that are one too many together give way and try again, so that one of them gets the place. */
const MAX_ROUNDS = 5;
const PAUSE_MS = 50;

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
  if ((await countMade(deps, input.userId)) >= deps.maxPartitionsPerUser)
    throw new AppError('PARTITION_LIMIT_EXCEEDED');
}

/** Those that a user owns and has made: what others hand over takes no place. */
async function countMade(
  { partitions }: Pick<CreatePartitionDeps, 'partitions'>,
  userId: number,
): Promise<number> {
  const memberships = await partitions.memberships(userId);
  const owned = memberships.filter(({ role }) => role === 'owner').map(({ partition }) => partition);
  if (owned.length === 0) return 0;
  const records = await partitions.list({ kind: 'all', userId }, owned);
  return records.filter((record) => record.created_by === userId).length;
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
  for (let round = 1; round <= MAX_ROUNDS; round += 1) {
    await requireMayCreatePartition(deps, input);
    const created = await createAnyway(deps, input);
    if ((await countMade(deps, input.userId)) <= deps.maxPartitionsPerUser) return created;
    // Of several at once each had counted before the others came. The last one always sees all of them.
    const deleted = await deps.partitions.markDeleted(input.partition);
    if (deleted !== null) await finishPartitionDeletion(deps, deleted);
    await sleep(Math.random() * PAUSE_MS * round);
  }
  throw new AppError('PARTITION_LIMIT_EXCEEDED');
}

/**
 * Deletes a partition that was made for something that was refused; one that is used or changed by now stays. An
 * upload that is being admitted has a task already.
 */
export async function withdrawPartition(
  deps: FinishPartitionDeletionStores,
  created: PartitionRecord,
): Promise<void> {
  const { partition, partition_key: partitionKey } = created;
  if (!isDeepStrictEqual(await deps.partitions.get(partition), created)) return;
  const tasks = await deps.tasks.list({ userId: null, states: ACTIVE_STATES, partition, limit: 1 });
  const members = await deps.partitions.members(partition);
  const workspaces = await deps.workspaces.list(EVERYTHING, partition);
  if (tasks.length > 0 || members.length > 1 || workspaces.length > 0) return;
  // Behind the tasks: one that has ended since is live.
  if (((await deps.files.countLive([partition])).get(partition) ?? 0) > 0) return;
  const deleted = await deps.partitions.markDeleted(partition, partitionKey);
  if (deleted !== null) await finishPartitionDeletion(deps, deleted);
}

async function createAnyway(
  deps: CreatePartitionDeps,
  { partition, userId }: { partition: string; userId: number },
): Promise<PartitionRecord> {
  const embedder = await deps.models.defaultName('embedder');
  if (embedder === null) throw new AppError('MODEL_ENDPOINT_NOT_FOUND', 'No default embedder is registered');
  const wanted = { partition, embedder, ownerId: userId };
  try {
    return await deps.partitions.create(wanted);
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'CONFLICT') throw error;
    // One of this name is being deleted, and that process may have died: the deletion is finished here.
    for (const deleted of await deps.partitions.listDeleted())
      if (deleted.partition === partition) await finishPartitionDeletion(deps, deleted);
    return deps.partitions.create(wanted);
  }
}
