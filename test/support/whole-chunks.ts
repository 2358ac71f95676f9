import type { ChunkStore } from '../../activities/ports/chunks.js';
import type { StoredChunk } from '../../schemas/documents/documents.js';

/** Chunks of a generation by position, with what they hold for filters. */
export async function wholeChunks(
  chunks: Pick<ChunkStore, 'listByFile' | 'get'>,
  fileKey: string,
  generation: number,
): Promise<StoredChunk[]> {
  const listed = await chunks.listByFile(fileKey, generation);
  const read = await Promise.all(listed.map(({ chunk_id: id }) => chunks.get(id)));
  return read.flatMap((chunk) => chunk ?? []);
}
