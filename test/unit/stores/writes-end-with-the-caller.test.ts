import { expect, it } from '@jest/globals';
import { createOpenSearchChunkStore } from '../../../activities/stores/opensearch/chunk-store.js';
import type { OpenSearchClient } from '../../../activities/stores/opensearch/connect-opensearch.js';
import { sampleChunk } from '../../contracts/samples.js';
import { until } from '../../support/until.js';

/** An engine that takes each write and ends it when it is told to, as the real one also where the line is closed. */
function slowEngine() {
  const underWay: (() => void)[] = [];
  let written = 0;
  const request = (
    _method: string,
    _path: string,
    given: { lines?: readonly unknown[]; signal?: AbortSignal } = {},
  ) =>
    new Promise((resolve, reject) => {
      const items = (given.lines ?? []).filter((_line, at) => at % 2 === 0);
      given.signal?.addEventListener('abort', () => reject(given.signal?.reason as Error));
      underWay.push(() => {
        written += items.length;
        resolve({ errors: false, items: items.map(() => ({ update: { _id: 'x', status: 201 } })) });
      });
    });
  return {
    client: { request } as unknown as OpenSearchClient,
    underWay,
    written: () => written,
  };
}

it.each([
  ['few chunks, which share a request with those of others', 2],
  ['many chunks', 100],
])('a caller that is cancelled has ended no sooner than its write: %s', async (_what, count) => {
  const engine = slowEngine();
  const store = createOpenSearchChunkStore(engine.client, { indexPrefix: '' });
  const entries = Array.from({ length: count }, (_, position) => ({
    chunk: sampleChunk({ position, chunk_id: `c${position}` }),
    vector: [1, 0],
    context: null,
  }));
  const leaving = new AbortController();
  let hasEnded = false;
  const put = store
    .put(entries, 'vector', leaving.signal)
    .catch(() => undefined)
    .then(() => (hasEnded = true));
  const other = store.put(entries.slice(0, 1), 'vector', new AbortController().signal);
  await until('the writes are under way', async () => engine.underWay.length >= (count > 64 ? 2 : 1));
  leaving.abort(new Error('cancelled'));
  await new Promise((resolve) => setImmediate(resolve));
  expect(hasEnded).toBe(false);
  for (const end of engine.underWay) end();
  await Promise.all([put, other]);
  expect(engine.written()).toBe(count + 1);
});

it('a caller that is cancelled before its write began writes nothing', async () => {
  const engine = slowEngine();
  const store = createOpenSearchChunkStore(engine.client, { indexPrefix: '' });
  const entry = { chunk: sampleChunk({}), vector: [1, 0], context: null };
  const left = AbortSignal.abort(new Error('cancelled'));
  await expect(store.put([entry], 'vector', left)).rejects.toThrow('cancelled');
  await expect(
    store.put(
      Array.from({ length: 100 }, () => entry),
      'vector',
      left,
    ),
  ).rejects.toThrow('cancelled');
  expect(engine.underWay).toEqual([]);
});
