import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createChunkIndexes } from '../../../activities/stores/opensearch/chunk-indexes.js';
import { createOpenSearchChunkStore } from '../../../activities/stores/opensearch/chunk-store.js';
import { CHUNKS_AT_ONCE } from '../../../activities/stores/opensearch/chunks-at-once.js';
import type { OpenSearchClient } from '../../../activities/stores/opensearch/connect-opensearch.js';
import { chunkId } from '../../../schemas/documents/chunk-id.js';
import { openEngine } from '../../support/schema-two-index.js';

const describeOnEngine = process.env['TAMIS_FAKES_ONLY'] === '1' ? describe.skip : describe;
const CHUNKS = 2 * CHUNKS_AT_ONCE + 500;
const PAGE = 5_000;

let engine: ReturnType<typeof openEngine>;
let prefix: string;
/** How many chunks each request concerned. */
let amounts: number[];
let client: OpenSearchClient;

beforeEach(() => {
  engine = openEngine();
  prefix = `tamis-test-${randomBytes(6).toString('hex')}-`;
  amounts = [];
  client = {
    async request<Answer>(...asked: Parameters<OpenSearchClient['request']>) {
      const answer = await engine.client.request<Answer>(...asked);
      if (/_reindex|_by_query/.test(asked[1])) amounts.push((answer as { total: number }).total);
      return answer;
    },
  };
});
afterEach(async () => {
  await engine.client.request('DELETE', `/${prefix}*`);
  await engine.close();
});

async function write(index: string, fileKey: string, chunks: number): Promise<void> {
  for (let from = 0; from < chunks; from += PAGE) {
    const lines = Array.from({ length: Math.min(PAGE, chunks - from) }, (_, at) => {
      const position = from + at;
      const source = { partition: 'p', file_key: fileKey, generation: 1, position, text: 'mill' };
      return [{ index: { _id: chunkId(fileKey, 1, position) } }, source];
    }).flat();
    await engine.client.request('POST', `/${index}/_bulk`, { lines });
  }
}

describeOnEngine('a file of more chunks than one request may concern', () => {
  test('is copied, made like the other one and deleted in several requests', async () => {
    const store = createOpenSearchChunkStore(client, { indexPrefix: prefix });
    await store.ensureSchema([]);
    const indexes = createChunkIndexes(client, { indexPrefix: prefix });
    const source = (await indexes.list()).find(({ live }) => live)!.index;
    await write(source, 'long', CHUNKS);
    await write(source, 'short', 3);
    const target = await indexes.create([]);
    await write(target, 'gone', CHUNKS_AT_ONCE);

    const { signal } = new AbortController();
    const aligned = await indexes.align({ source, target }, { signal });
    expect(aligned).toEqual({ written: CHUNKS + 3, deleted: CHUNKS_AT_ONCE });
    expect(await indexes.countGeneration(target, { fileKey: 'long', generation: 1 })).toBe(CHUNKS);
    const copied = await indexes.copy({ source, target, after: -1, size: 10 * CHUNKS }, { signal });
    expect(copied.copied).toBe(CHUNKS + 3);
    expect(await store.deleteFile('long')).toBe(CHUNKS);
    expect(await indexes.countGeneration(source, { fileKey: 'long', generation: 1 })).toBe(0);
    expect(await indexes.countGeneration(source, { fileKey: 'short', generation: 1 })).toBe(3);

    expect(amounts.length).toBeGreaterThanOrEqual(8);
    // Slices are even but for what a hash makes of them.
    expect(Math.max(...amounts)).toBeLessThan(1.1 * CHUNKS_AT_ONCE);
  }, 120_000);
});
