import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createChunkIndexes } from '../../../activities/stores/opensearch/chunk-indexes.js';
import { createOpenSearchChunkStore } from '../../../activities/stores/opensearch/chunk-store.js';
import { connectOpenSearch } from '../../../activities/stores/opensearch/connect-opensearch.js';
import { endServer, listenOnLoopback } from '../../support/loopback-server.js';

/** An engine of which the shards with the chunks have no node: it counts in the empty ones. */
let shards: { total: number; successful: number; skipped: number; failed: number };
let written: string[];
let server: Server;
let url: string;

function answerTo(path: string): object {
  if (path.endsWith('/_count')) return { count: 0, _shards: shards };
  return { 'chunks-v3': { mappings: { _meta: { record_store: 'one' } } } };
}

beforeAll(async () => {
  server = createServer(({ method, url: path = '' }, response) => {
    if (method === 'PUT') written.push(path);
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(answerTo(path)));
  });
  ({ url } = await listenOnLoopback(server));
});
beforeEach(() => {
  written = [];
});
afterAll(() => endServer(server));

async function connected<Result>(use: (client: ReturnType<typeof connectOpenSearch>['client']) => Result) {
  const { client, close } = connectOpenSearch({ url });
  try {
    return await use(client);
  } finally {
    await close();
  }
}

function ownerOf(recordStore: string) {
  return connected((client) => createOpenSearchChunkStore(client, { indexPrefix: '' }).ownerOf(recordStore));
}

test.each([
  ['without a node', { total: 6, successful: 2, skipped: 0, failed: 0 }],
  ['that fail', { total: 6, successful: 2, skipped: 0, failed: 4 }],
])('chunks in shards %s keep their owner, and no count leaves them out', async (_how, some) => {
  shards = some;
  await expect(ownerOf('other')).rejects.toMatchObject({ code: 'VDB_CONNECTION_ERROR' });
  expect(written).toEqual([]);
  const counted = connected((client) =>
    createChunkIndexes(client, { indexPrefix: '' }).countWithout('chunks-v3', {
      partition: 'one',
      vectorField: 'vector',
    }),
  );
  await expect(counted).rejects.toMatchObject({ code: 'VDB_CONNECTION_ERROR' });
});

test('an index that is empty in all of its shards gets another owner', async () => {
  shards = { total: 6, successful: 6, skipped: 0, failed: 0 };
  expect(await ownerOf('other')).toBe('other');
  expect(written).toEqual(['/chunks/_mapping']);
});
