import type { Adapters } from '../ports.js';

export type DeletePartition = (partition: string) => Promise<unknown>;

type Stores = Pick<Adapters, 'users' | 'partitions' | 'files' | 'workspaces'>;

/** Partitions that nobody else owns: they go with the user. One with another owner stays that one's. */
export const soleOwnerships = async (
  { partitions }: Pick<Adapters, 'partitions'>,
  userId: number,
): Promise<string[]> => {
  const names: string[] = [];
  for (const { partition, role } of await partitions.memberships(userId)) {
    if (role !== 'owner') continue;
    const members = await partitions.members(partition);
    if (!members.some((member) => member.user_id !== userId && member.role === 'owner'))
      names.push(partition);
  }
  return names;
};

/**
 * The rest of a user's deletion after its record has become a mark. It may be repeated, and run twice at once: as
 * long as the mark stands, the sweep takes it up again.
 */
export const finishUserDeletion = async (
  stores: Stores,
  deletePartition: DeletePartition,
  userId: number,
): Promise<void> => {
  for (const partition of await soleOwnerships(stores, userId)) await deletePartition(partition);
  await stores.partitions.removeUser(userId);
  await stores.files.forgetUploader(userId);
  await stores.workspaces.forgetCreator(userId);
  await stores.users.remove(userId);
};
