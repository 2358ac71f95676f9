import { describe, expect, it } from '@jest/globals';
import { createChunkIndexes } from '../../../activities/stores/opensearch/chunk-indexes.js';
import { createOpenSearchChunkStore } from '../../../activities/stores/opensearch/chunk-store.js';
import type { OpenSearchClient } from '../../../activities/stores/opensearch/connect-opensearch.js';

type Meta = Record<string, unknown>;

/** As much of an engine as names and counts: `_meta` by index, the alias on the first, `count` chunks in each. */
function scriptedEngine(metas: Record<string, Meta>, count = 1) {
  const request = async (method: string, path: string, { body }: { body?: unknown } = {}) => {
    const [name = '', what = ''] = path.slice(1).split('/');
    const index = name === 'chunks' ? 'chunks-v3' : name;
    if (what === '_mapping' && method === 'PUT') {
      metas[index] = (body as { _meta: Meta })._meta;
      return {};
    }
    if (what === '_mapping') return { [index]: { mappings: { _meta: metas[index] } } };
    if (what === '_count') return { count };
    if (what === '_alias') return { 'chunks-v3': { aliases: { chunks: {} } } };
    if (what === '_settings') return { [index]: { settings: { 'index.number_of_shards': '1' } } };
    if (what.startsWith('_stats'))
      return { indices: { [index]: { total: { search: {} }, shards: { 0: [] } } } };
    return {};
  };
  return { request } as unknown as OpenSearchClient;
}

function store(metas: Record<string, Meta>, count?: number) {
  return createOpenSearchChunkStore(scriptedEngine(metas, count), { indexPrefix: '' });
}

describe('the owner of the chunks', () => {
  it('is named beside what the index tells already', async () => {
    const metas = { 'chunks-v3': { schema_version: 3, step: 2 } };
    expect(await store(metas).ownerOf('one')).toBe('one');
    expect(metas['chunks-v3']).toEqual({ schema_version: 3, step: 2, record_store: 'one' });
    expect(await store(metas).ownerOf('other')).toBe('one');
    expect(await store(metas, 0).ownerOf('other')).toBe('other');
    await store(metas).giveTo('one');
    expect(metas['chunks-v3']).toEqual({ schema_version: 3, step: 2, record_store: 'one' });
  });

  it('stays the same in an index that replaces another one', async () => {
    const metas: Record<string, Meta> = {
      'chunks-v3': { schema_version: 3, step: 1, record_store: 'one' },
      'chunks-v3-2': { schema_version: 3, step: 2, building: true },
    };
    await createChunkIndexes(scriptedEngine(metas), { indexPrefix: '' }).swap({
      source: 'chunks-v3',
      target: 'chunks-v3-2',
    });
    expect(metas['chunks-v3-2']).toMatchObject({ schema_version: 3, step: 2, record_store: 'one' });
    expect(metas['chunks-v3-2']).not.toHaveProperty('building');
  });
});
