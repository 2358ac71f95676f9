import { describe, expect, test } from '@jest/globals';
import type { OpenSearchClient } from '../../../activities/stores/opensearch/connect-opensearch.js';
import { nextPage, readActivity } from '../../../activities/stores/opensearch/writes-reached.js';

describe('the next page of writes', () => {
  test('begins at the first write, where nothing was copied', () => {
    expect(nextPage([], [250], 100)).toEqual({
      pages: [{ shard: 0, after: -1, upTo: 99 }],
      reached: [99],
    });
  });

  test('goes on where an earlier release, which had one shard, stopped', () => {
    expect(nextPage(99, [250], 200)).toEqual({
      pages: [{ shard: 0, after: 99, upTo: 250 }],
      reached: [250],
    });
  });

  test('is taken in equal parts from the shards that have more', () => {
    expect(nextPage([10, 40, -1], [10, 1000, 5], 100)).toEqual({
      pages: [
        { shard: 1, after: 40, upTo: 90 },
        { shard: 2, after: -1, upTo: 5 },
      ],
      reached: [10, 90, 5],
    });
  });

  test('is empty at the end, and of shards without writes', () => {
    expect(nextPage([7, -1], [7, -1], 100)).toEqual({ pages: [], reached: [7, -1] });
  });
});

test('a shard that is not there is not passed over: its writes would be missing', async () => {
  const stats = {
    indices: { chunks: { total: { search: {} }, shards: { 0: [{ seq_no: { local_checkpoint: 4 } }] } } },
  };
  const client = { request: () => Promise.resolve(stats) } as unknown as OpenSearchClient;
  await expect(readActivity(client, 'chunks', 2)).rejects.toMatchObject({ code: 'VDB_CONNECTION_ERROR' });
  expect(await readActivity(client, 'chunks', 1)).toEqual({ writes: [4], searches: 0 });
});
