import { describe, expect, it } from '@jest/globals';
import { createChunkIndexes } from '../../../activities/stores/opensearch/chunk-indexes.js';
import type { OpenSearchClient } from '../../../activities/stores/opensearch/connect-opensearch.js';

/** As much of an engine as two indexes, the alias on the second, and what it is told to delete. */
function scriptedEngine(deleted: string[]) {
  const request = async (method: string, path: string) => {
    if (method === 'DELETE') deleted.push(decodeURIComponent(path.slice(1)));
    if (path.endsWith('_alias')) return { 'chunks-v3-2': { aliases: { chunks: {} } } };
    if (path.endsWith('_mapping')) return { 'chunks-v3': { mappings: {} }, 'chunks-v3-2': { mappings: {} } };
    return {};
  };
  return { request } as unknown as OpenSearchClient;
}

describe('dropping an index', () => {
  it('takes the name of one that is kept, neither a pattern nor a list', async () => {
    const deleted: string[] = [];
    const indexes = createChunkIndexes(scriptedEngine(deleted), { indexPrefix: '' });
    for (const none of ['chunks-v3-*', 'chunks-v3-9*,chunks-v3-2', 'chunks-v3-*,*', 'chunks-v3-9', 'other'])
      await expect(indexes.drop(none)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(indexes.drop('chunks-v3-2')).rejects.toMatchObject({ code: 'MIGRATION_NOT_POSSIBLE' });
    expect(deleted).toEqual([]);
    await indexes.drop('chunks-v3');
    expect(deleted).toEqual(['chunks-v3']);
  });
});
