import { AppError } from '../../../schemas/app-error.js';
import type { Adapters } from '../../ports/adapters.js';

export type DeletePartition = (partition: string) => Promise<unknown>;

/** It is where clients put files that belong nowhere else: it is never deleted, and passes to the first admin. */
export const LASTING_PARTITION = 'default';
const FIRST_ADMIN = 1;

type Stores = Pick<Adapters, 'users' | 'partitions' | 'files' | 'workspaces' | 'feedback' | 'conversations'>;

/**
 * Takes the user out of partitions that have another owner, before anything else: that one may leave too, and not as
 * long as it is the last. What is left is deleted with the user. A partition whose other owners are being deleted as
 * well is left: of two owners deleted at once each would leave it to the other.
 */
async function leaveToOthers(
  { partitions, users }: Pick<Adapters, 'partitions' | 'users'>,
  userId: number,
): Promise<string[]> {
  const names: string[] = [];
  for (const { partition, role } of await partitions.memberships(userId)) {
    if (role !== 'owner') continue;
    const owners = (await partitions.members(partition)).filter((member) => member.role === 'owner');
    const others = owners.map(({ user_id }) => user_id).filter((other) => other !== userId);
    const stays = (await users.getMany(others)).size > 0;
    if (!stays || !(await leave(partitions, partition, userId))) names.push(partition);
  }
  return names;
}

/** False for the last owner, which it has become by now. */
async function leave(
  partitions: Pick<Adapters['partitions'], 'removeMember'>,
  partition: string,
  userId: number,
): Promise<boolean> {
  try {
    await partitions.removeMember(partition, userId);
    return true;
  } catch (error) {
    if (error instanceof AppError && error.code === 'LAST_OWNER') return false;
    if (error instanceof AppError && error.code === 'MEMBERSHIP_NOT_FOUND') return true;
    throw error;
  }
}

/**
 * The rest of a user's deletion after its record has become a mark. It may be repeated, and run twice at once: as
 * long as the mark stands, the sweep takes it up again.
 */
export async function finishUserDeletion(
  stores: Stores,
  deletePartition: DeletePartition,
  userId: number,
): Promise<void> {
  for (const partition of await leaveToOthers(stores, userId))
    if (partition === LASTING_PARTITION) await handOver(stores, partition);
    else await deletePartition(partition);
  await stores.partitions.removeUser(userId);
  await stores.files.forgetUploader(userId);
  await stores.workspaces.forgetCreator(userId);
  await stores.feedback.removeUser(userId);
  await stores.conversations.removeUser(userId);
  await stores.users.remove(userId);
}

async function handOver({ partitions }: Pick<Adapters, 'partitions'>, partition: string): Promise<void> {
  try {
    await partitions.addMember(partition, FIRST_ADMIN, 'owner');
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'MEMBERSHIP_EXISTS') throw error;
    await partitions.setRole(partition, FIRST_ADMIN, 'owner');
  }
}
