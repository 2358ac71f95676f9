import { describe, expect, it } from '@jest/globals';
import { createChunkIndexes } from '../../../activities/stores/opensearch/chunk-indexes.js';
import { AppError } from '../../../schemas/app-error.js';
import type { OpenSearchClient } from '../../../activities/stores/opensearch/connect-opensearch.js';

/** As much of an engine as two indexes, the alias on the second, and what it is told to delete. */
function scriptedEngine(deleted: string[]) {
  const request = async (method: string, path: string): Promise<object> => {
    if (method === 'DELETE') deleted.push(decodeURIComponent(path.slice(1)));
    if (path.endsWith('_alias')) return { 'chunks-v3-2': { aliases: { chunks: {} } } };
    if (path.endsWith('_mapping')) return { 'chunks-v3': { mappings: {} }, 'chunks-v3-2': { mappings: {} } };
    return {};
  };
  return { request } as unknown as OpenSearchClient;
}

const STRICT = { dynamic: 'strict', _meta: { schema_version: 3, step: 2 } };

/**
 * As much of an engine as a copy into `chunks-v3-3`, which makes that index anew unless it was ended before the index
 * is dropped.
 */
function copyingEngine(mayCancel: boolean) {
  const indexes = new Map<string, object>([
    ['chunks-v3-2', STRICT],
    ['chunks-v3-3', { ...STRICT, _meta: { ...STRICT._meta, building: true } }],
  ]);
  const tasks: Record<string, { description: string }> = {
    'node:1': { description: 'reindex from [chunks-v3-2] to [chunks-v3-3]' },
    'node:2': { description: 'reindex from [of-another-service] to [chunks-v3-33]' },
  };
  const request = async (method: string, path: string): Promise<object> => {
    const name = path.slice(1);
    if (path.endsWith('_alias')) return { 'chunks-v3-2': { aliases: { chunks: {} } } };
    if (path.endsWith('_mapping'))
      return Object.fromEntries([...indexes].map(([index, mappings]) => [index, { mappings }]));
    if (path === '/_tasks') return { nodes: { node: { tasks } } };
    const ended = path.split('/').at(-2);
    if (path.endsWith('_cancel')) {
      if (!mayCancel) throw new AppError('VDB_CONNECTION_ERROR');
      delete tasks[ended!];
    }
    if (method === 'DELETE') {
      indexes.delete(name);
      if (name === 'chunks-v3-3' && Object.hasOwn(tasks, 'node:1')) indexes.set(name, { properties: {} });
    }
    if (method === 'PUT' && !name.includes('/')) indexes.set(name, STRICT);
    return {};
  };
  return { indexes, tasks, client: { request } as unknown as OpenSearchClient };
}

describe('dropping an index', () => {
  it('ends what is still copied into it, which would make it anew', async () => {
    const { indexes, tasks, client } = copyingEngine(true);
    await createChunkIndexes(client, { indexPrefix: '' }).drop('chunks-v3-3');
    expect([...indexes.keys()]).toEqual(['chunks-v3-2']);
    expect(Object.keys(tasks)).toEqual(['node:2']);
  });

  it('leaves one that the engine makes anew to the next build, where no task may be ended', async () => {
    const { indexes, tasks, client } = copyingEngine(false);
    const ours = createChunkIndexes(client, { indexPrefix: '' });
    await ours.drop('chunks-v3-3');
    expect([...indexes.keys()]).toEqual(['chunks-v3-2', 'chunks-v3-3']);
    delete tasks['node:1'];
    // One that an operator made, by hand.
    indexes.set('chunks-v3-copy', { properties: {} });
    expect(await ours.create([])).toBe('chunks-v3-4');
    expect([...indexes.keys()]).toEqual(['chunks-v3-2', 'chunks-v3-copy', 'chunks-v3-4']);
  });

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
