import type { ChunkStore, FoundChunk } from '../../ports/chunks.js';
import type { RankedHit, SearchResult } from './search-types.js';

/**
 * The first of a ranking with their texts. Where one is gone since it was found, the next takes its place.
 *
 * @param options.wanted so many, or as many as there are
 * @param options.known chunks that were read already
 * @returns `gone`: whether one was
 * @throws AppError of the chunk store
 */
export async function readResults(
  chunks: Pick<ChunkStore, 'getMany'>,
  ranked: readonly RankedHit[],
  {
    wanted,
    known,
    signal,
  }: { wanted: number; known: ReadonlyMap<string, FoundChunk>; signal?: AbortSignal | undefined },
): Promise<{ results: SearchResult[]; gone: boolean }> {
  const results: SearchResult[] = [];
  let from = 0;
  while (results.length < wanted && from < ranked.length) {
    const page = ranked.slice(from, from + wanted - results.length);
    from += page.length;
    const unread = page.map(({ chunk }) => chunk.chunk_id).filter((id) => !known.has(id));
    const found = unread.length === 0 ? known : await chunks.getMany(unread, signal);
    for (const hit of page) {
      const { chunk_id: id } = hit.chunk;
      const chunk = known.get(id) ?? found.get(id);
      if (chunk !== undefined) results.push({ ...hit, chunk });
    }
  }
  return { results, gone: results.length < from };
}
