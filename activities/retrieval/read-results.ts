import type { ChunkStore } from '../chunk-ports.js';
import type { RankedHit, SearchResult } from './search-service.js';

/**
 * The first of a ranking with their texts. Where one is gone since it was found, the next takes its place.
 *
 * @param wanted so many, or as many as there are
 * @returns `gone`: whether one was
 * @throws AppError of the chunk store
 */
export const readResults = async (
  chunks: Pick<ChunkStore, 'getMany'>,
  ranked: readonly RankedHit[],
  wanted: number,
  signal?: AbortSignal,
): Promise<{ results: SearchResult[]; gone: boolean }> => {
  const results: SearchResult[] = [];
  let from = 0;
  while (results.length < wanted && from < ranked.length) {
    const page = ranked.slice(from, from + wanted - results.length);
    from += page.length;
    const found = await chunks.getMany(
      page.map(({ chunk }) => chunk.chunk_id),
      signal,
    );
    for (const hit of page) {
      const chunk = found.get(hit.chunk.chunk_id);
      if (chunk !== undefined) results.push({ ...hit, chunk });
    }
  }
  return { results, gone: results.length < from };
};
