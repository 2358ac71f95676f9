import type { PartitionRecord } from '../../schemas/documents.js';
import type { Adapters } from '../ports.js';

const PAGE = 1000;

/**
 * The second half of a partition's deletion: its files become tombstones, their bytes may be uploaded again, its
 * workspaces go, and the name is free. By key and never by name, so that running it late touches nothing of a partition that was created
 * under the name since.
 */
export const finishPartitionDeletion = async (
  { partitions, files, claims, workspaces }: Pick<Adapters, 'partitions' | 'files' | 'claims' | 'workspaces'>,
  deleted: Pick<PartitionRecord, 'partition' | 'partition_key'>,
): Promise<void> => {
  await files.markPartitionDeleted(deleted.partition_key);
  const tombstones = await files.listPartitionTombstones(deleted.partition_key, Number.MAX_SAFE_INTEGER);
  for (let from = 0; from < tombstones.length; from += PAGE)
    await claims.releaseFiles(tombstones.slice(from, from + PAGE).map(({ file_key }) => file_key));
  // Listed first: a mark that stands after that says that the name was not free, so these are no newer partition's.
  const theirs = await workspaces.list({ kind: 'all', userId: 0 }, deleted.partition);
  const marked = await partitions.listDeleted();
  if (!marked.some(({ partition_key }) => partition_key === deleted.partition_key)) return;
  await workspaces.removeMany(theirs.map(({ workspace_key }) => workspace_key));
  await partitions.removeDeleted(deleted);
};
