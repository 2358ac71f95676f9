import { expect, test } from '@jest/globals';
import { createOpenSearchChunkStore } from '../../../activities/stores/opensearch/chunk-store.js';
import type { OpenSearchClient } from '../../../activities/stores/opensearch/connect-opensearch.js';
import { collect, sampleChunk } from '../../contracts/samples.js';

interface Asked {
  size: number;
  _source: string[];
  search_after?: number[];
}

/** An engine with the published chunks of one file, and what it was asked. */
function engineWith(count: number) {
  const chunks = Array.from({ length: count }, (_, position) => sampleChunk({ file_key: 'f', position }));
  const asked: Asked[] = [];
  const request = async (_method: string, path: string, { body }: { body?: unknown } = {}) => {
    if (!path.endsWith('/_search')) return {};
    const { size, search_after: after, _source: fields } = body as Asked;
    asked.push(body as Asked);
    const from = after === undefined ? 0 : after.at(-1)! + 1;
    const hits = chunks.slice(from, from + size).map((chunk) => ({
      _id: chunk.chunk_id,
      _source: Object.fromEntries(Object.entries(chunk).filter(([key]) => fields.includes(key))),
    }));
    return { hits: { hits } };
  };
  const client = { request } as unknown as OpenSearchClient;
  return { asked, store: createOpenSearchChunkStore(client, { indexPrefix: '' }) };
}

test('the metadata of chunks is not asked for unless it is wanted', async () => {
  const { asked, store } = engineWith(3);
  expect(await store.listByFile('f', 1)).toHaveLength(3);
  expect(await collect(store.scanChunks([1]))).toHaveLength(3);
  for (const { _source } of asked.splice(0)) expect(_source).not.toContain('metadata');
  await collect(store.scanChunks([1], { metadata: true }));
  for (const { _source } of asked) expect(_source).toContain('metadata');
});

test('a page of a scan is as small as it is asked to be', async () => {
  const { asked, store } = engineWith(5);
  const found = await collect(store.scanChunks([1], { pageSize: 2 }));
  expect(found.map(({ chunk }) => chunk.position)).toEqual([0, 1, 2, 3, 4]);
  expect(asked.map(({ size }) => size)).toEqual([2, 2, 2]);
});
