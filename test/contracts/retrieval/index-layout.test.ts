import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createChunkIndexes } from '../../../activities/stores/opensearch/chunk-indexes.js';
import { createOpenSearchChunkStore } from '../../../activities/stores/opensearch/chunk-store.js';
import { readIndexSettings } from '../../../activities/stores/opensearch/index-settings.js';
import type { AppError } from '../../../schemas/app-error.js';
import { collect, sampleChunk, times } from '../samples.js';
import { openEngine } from '../../support/schema-two-index.js';

let engine: ReturnType<typeof openEngine>;
let indexPrefix: string;

beforeEach(() => {
  engine = openEngine();
  indexPrefix = `tamis-test-${randomBytes(6).toString('hex')}-`;
});
afterEach(async () => {
  await engine.client.request('DELETE', `/${indexPrefix}*`);
  await engine.close();
});

/** As a process with these settings does when it starts. */
async function start(replicas: string | null): Promise<void> {
  const store = createOpenSearchChunkStore(engine.client, { indexPrefix, replicas });
  await store.ensureSchema([{ vectorField: 'v', dimension: 2 }]);
}

async function copiesOf(index: string): Promise<[unknown, unknown]> {
  const settings = await readIndexSettings(engine.client, index);
  return [settings['index.auto_expand_replicas'], settings['index.number_of_replicas']];
}

const describeOnEngine = process.env['TAMIS_FAKES_ONLY'] === '1' ? describe.skip : describe;

describeOnEngine('shards of the index of the chunks', () => {
  const shardsOf = async (index: string) =>
    (await readIndexSettings(engine.client, index))['index.number_of_shards'];

  it('are one, or as many as are asked for when it is made, and stay as they are', async () => {
    await start(null);
    expect(await shardsOf(`${indexPrefix}chunks`)).toBe('1');
    const store = createOpenSearchChunkStore(engine.client, { indexPrefix, shards: 3 });
    await store.ensureSchema([{ vectorField: 'v', dimension: 2 }]);
    expect(await shardsOf(`${indexPrefix}chunks`)).toBe('1');
    const indexes = createChunkIndexes(engine.client, { indexPrefix, shards: 3 });
    expect(await shardsOf(await indexes.create([]))).toBe('3');
  });

  it('are asked one at a time by a search of one partition', async () => {
    const store = createOpenSearchChunkStore(engine.client, { indexPrefix, shards: 4 });
    await store.ensureSchema([{ vectorField: 'v', dimension: 2 }]);
    const chunks = ['one', 'two', 'three'].map((partition) => sampleChunk({ partition, text: 'a sieve' }));
    await store.put(
      chunks.map((chunk) => ({ chunk: { ...chunk, published: true }, vector: [1, 0] })),
      'v',
    );
    await store.show();
    const queries = async (): Promise<number> => {
      const path = `/${indexPrefix}chunks/_stats/search`;
      const { _all } = await engine.client.request<{
        _all: { primaries: { search: { query_total: number } } };
      }>('GET', path);
      return _all.primaries.search.query_total;
    };
    const asked = async (partitions: string[] | 'all'): Promise<[number, number]> => {
      const before = await queries();
      const scope = { kind: 'all', userId: 1 } as const;
      const search = { scope, partitions, text: 'sieve', vector: [1, 0], vectorField: 'v', size: 5 };
      const { lexical } = await store.searchHybrid(search);
      return [lexical.length, (await queries()) - before];
    };
    // What the words weigh, the words and the vectors: a query each, in one shard or in each of the four.
    expect(await asked(['one'])).toEqual([1, 3]);
    expect(await asked('all')).toEqual([3, 12]);
  });
});

describeOnEngine('an index of which a shard is away', () => {
  it('answers nothing, rather than what the others hold', async () => {
    const store = createOpenSearchChunkStore(engine.client, { indexPrefix, shards: 2, replicas: '0' });
    await store.ensureSchema([{ vectorField: 'v', dimension: 2 }]);
    const chunks = times(12, (place) => ({ ...sampleChunk({ partition: `p${place}` }), published: true }));
    await store.put(
      chunks.map((chunk) => ({ chunk, vector: [1, 0] })),
      'v',
    );
    await store.show();
    const ids = chunks.map(({ chunk_id: id }) => id);
    const scope = { kind: 'all', userId: 1 } as const;
    const asks: Record<string, () => Promise<unknown>> = {
      'by id': () => store.getMany(ids),
      search: () =>
        store.searchHybrid({
          scope,
          partitions: 'all',
          text: 'sieve',
          vector: [1, 0],
          vectorField: 'v',
          size: 5,
        }),
      scan: () => collect(store.scanChunks([1])),
    };
    for (const ask of Object.values(asks)) await ask();
    const [index] = Object.keys(await engine.client.request<object>('GET', `/${indexPrefix}chunks`));
    const { nodes } = await engine.client.request<{ nodes: object }>('GET', '/_nodes');
    await engine.client.request('PUT', `/${index}/_settings`, {
      body: { 'index.routing.allocation.enable': 'none' },
    });
    const cancel = { index, shard: 0, node: Object.keys(nodes)[0], allow_primary: true };
    await engine.client.request('POST', '/_cluster/reroute', { body: { commands: [{ cancel }] } });
    const codes = await Promise.all(
      Object.entries(asks).map(async ([name, ask]) => [
        name,
        await ask().then(
          () => 'an answer',
          (error: unknown) => (error as AppError).code,
        ),
      ]),
    );
    expect(Object.fromEntries(codes)).toEqual({
      'by id': 'VDB_CONNECTION_ERROR',
      search: 'VDB_CONNECTION_ERROR',
      scan: 'VDB_CONNECTION_ERROR',
    });
  });
});

describeOnEngine('copies of the index of the chunks', () => {
  it('are one where there is a node for it, if nothing is asked for', async () => {
    await start(null);
    expect(await copiesOf(`${indexPrefix}chunks`)).toEqual(['0-1', '0']);
  });

  it('are as many as are asked for, from its creation on or later, and stay when nothing is asked for', async () => {
    await start('2');
    expect(await copiesOf(`${indexPrefix}chunks`)).toEqual(['false', '2']);
    await start('0-all');
    expect(await copiesOf(`${indexPrefix}chunks`)).toEqual(['0-all', '0']);
    await start('1');
    expect(await copiesOf(`${indexPrefix}chunks`)).toEqual(['false', '1']);
    await start(null);
    expect(await copiesOf(`${indexPrefix}chunks`)).toEqual(['false', '1']);
  });

  it('are as many of an index that a migration builds', async () => {
    await start('1');
    const indexes = createChunkIndexes(engine.client, { indexPrefix, replicas: '1' });
    expect(await copiesOf(await indexes.create([]))).toEqual(['false', '1']);
  });
});
