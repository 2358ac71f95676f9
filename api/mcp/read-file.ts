import { presentChunkMetadata } from '../../activities/retrieval/search/present-metadata.js';
import { chunkId } from '../../schemas/documents/chunk-id.js';
import type { FileRecord, FileVersion } from '../../schemas/documents/documents.js';
import type { GatewayDeps } from '../gateway-deps.js';
import { authoriseCaller } from '../http/middleware/authorise-partition.js';
import { noSuchFile } from '../../activities/documents/commands/refusals.js';
import type { CallerContext } from '../http/route.js';

type Stores = GatewayDeps['adapters'];

/**
 * A live file, for a viewer of its partition.
 * @throws AppError, plain: AUTH_ERROR, PARTITION_NOT_FOUND, FILE_NOT_FOUND
 */
export async function findLiveFile(
  { files, partitions }: Pick<Stores, 'files' | 'partitions'>,
  ctx: CallerContext,
  { partition, fileId }: { partition: string; fileId: string },
): Promise<{ file: FileRecord; live: FileVersion }> {
  await authoriseCaller(partitions, ctx, partition, 'viewer');
  const file = await files.get(partition, fileId);
  if (file?.live == null) throw noSuchFile({ partition, fileId });
  return { file, live: file.live };
}

/** Chunks of a live file by their places; those that a new version has just replaced are left out. */
export async function readChunks(
  { chunks }: Pick<Stores, 'chunks'>,
  { file, live }: { file: FileRecord; live: FileVersion },
  { offset, limit, signal }: { offset: number; limit: number; signal: AbortSignal },
) {
  const { file_key: fileKey } = file;
  const count = Math.max(0, Math.min(limit, live.chunk_count - offset));
  const ids = Array.from({ length: count }, (_, place) => chunkId(fileKey, live.generation, offset + place));
  const found = await chunks.getMany(ids, signal);
  return ids.flatMap((id) => {
    const chunk = found.get(id);
    if (chunk === undefined) return [];
    const metadata = presentChunkMetadata({ chunk, file, version: live });
    return [{ chunk_id: id, content: chunk.text, metadata }];
  });
}
