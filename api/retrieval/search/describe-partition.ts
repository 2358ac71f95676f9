import type { z } from 'zod';
import type { Adapters } from '../../../activities/ports/adapters.js';
import type { Scope } from '../../../schemas/documents/users.js';
import type { PartitionSnapshot } from '../../../schemas/documents/documents-api.js';
import { listIndexedEmbedders } from '../../documents/partitions/indexed-embedders.js';

const MAX_IDS = 10_000;

/**
 * What a partition holds by its records and by the index, side by side: where the two differ for longer than a clean-up
 * takes, something is wrong.
 */
export async function describePartition(
  { partitions, files, chunks, models }: Pick<Adapters, 'partitions' | 'files' | 'chunks' | 'models'>,
  scope: Scope,
  partition: string,
  options: { documentIds: boolean },
): Promise<z.input<typeof PartitionSnapshot>> {
  const [record, ids, totals, pending, degraded, embedders, indexed] = await Promise.all([
    partitions.get(partition),
    options.documentIds ? files.listIds(scope, partition, MAX_IDS + 1) : [],
    files.totalLive([partition]),
    files.countPending(partition),
    files.countDegraded(partition),
    listIndexedEmbedders({ files, models }, partition),
    chunks.countChunks(scope, partition),
  ]);
  const total = totals.get(partition);
  return {
    partition,
    embedder: record?.embedder ?? '',
    indexed_embedders: embedders,
    files: total?.files ?? 0,
    pending_files: pending,
    expected_chunks: total?.chunks ?? 0,
    indexed_chunks: indexed.chunks,
    published_chunks: indexed.published,
    degraded_files: degraded,
    ...(options.documentIds && {
      document_ids: ids.slice(0, MAX_IDS),
      document_ids_truncated: ids.length > MAX_IDS,
    }),
  };
}
