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
  const [record, listed, counted, pending, embedders, indexed] = await Promise.all([
    partitions.get(partition),
    files.listLive(scope, partition, { limit: MAX_IDS + 1 }),
    files.countLive([partition]),
    files.countPending(partition),
    listIndexedEmbedders({ files, models }, partition),
    chunks.countChunks(scope, partition),
  ]);
  const truncated = listed.length > MAX_IDS;
  const sum = (numberOf: (file: (typeof listed)[number]) => number): number | null =>
    truncated ? null : listed.reduce((total, file) => total + numberOf(file), 0);
  return {
    partition,
    embedder: record?.embedder ?? '',
    indexed_embedders: embedders,
    files: counted.get(partition) ?? 0,
    pending_files: pending,
    expected_chunks: sum(({ live }) => live?.chunk_count ?? 0),
    indexed_chunks: indexed.chunks,
    published_chunks: indexed.published,
    degraded_files: sum(({ live }) => ((live?.degraded_stages.length ?? 0) > 0 ? 1 : 0)),
    ...(options.documentIds && {
      document_ids: listed.slice(0, MAX_IDS).map(({ file_id: id }) => id),
      document_ids_truncated: truncated,
    }),
  };
}
