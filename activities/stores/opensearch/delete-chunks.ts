import { AppError } from '../../../schemas/app-error.js';
import { CHUNKS_AT_ONCE } from './chunks-at-once.js';
import type { OpenSearchClient } from './connect-opensearch.js';

/** Conflicts come only when chunks are written while they are deleted. */
const MAX_CONFLICTS = 20;

/**
 * Deletes what matches until nothing does, and answers how many. Refreshed first: the engine deletes what a search
 * would find, and chunks just written are not among it.
 * @throws AppError VDB_DELETE_ERROR when the engine refuses
 */
export async function deleteChunks(client: OpenSearchClient, index: string, query: object): Promise<number> {
  let deleted = 0;
  for (let conflicts = 0; conflicts < MAX_CONFLICTS;) {
    await client.request('POST', `/${index}/_refresh`);
    const answer = await client.request<{ deleted: number; total: number; failures: unknown[] }>(
      'POST',
      `/${index}/_delete_by_query`,
      {
        body: { query },
        query: { conflicts: 'proceed', refresh: true, max_docs: CHUNKS_AT_ONCE },
        timeoutMs: 600_000,
        refused: 'VDB_DELETE_ERROR',
      },
    );
    deleted += answer.deleted;
    if (answer.failures.length > 0 || answer.deleted < answer.total) conflicts += 1;
    else if (answer.total < CHUNKS_AT_ONCE) return deleted;
  }
  throw new AppError('VDB_ERROR', 'Chunks keep changing while they are deleted.');
}
