import { AppError } from '../../../schemas/app-error.js';
import type { WritesReached } from '../../ports/migrations.js';
import { SEARCHES } from './best-hits.js';
import type { OpenSearchClient } from './connect-opensearch.js';

interface StatsAnswer {
  indices: Record<
    string,
    {
      total: { search: { groups?: Record<string, { query_total: number }> } };
      shards: Record<string, { seq_no: { max_seq_no: number; local_checkpoint: number } }[]>;
    }
  >;
}

/**
 * How far the writes of an index have come, shard by shard (nothing that is under way is missing below), and how many
 * searches were answered since the nodes started.
 * @throws AppError VDB_CONNECTION_ERROR when a shard is not there
 */
export async function readActivity(
  client: OpenSearchClient,
  index: string,
  expected: number,
): Promise<{ writes: number[]; searches: number }> {
  const { indices } = await client.request<StatsAnswer>('GET', `/${index}/_stats`, {
    query: { level: 'shards', groups: SEARCHES },
  });
  const [found] = Object.values(indices);
  const shards = Object.entries(found?.shards ?? {}).sort(([one], [other]) => Number(one) - Number(other));
  if (shards.length !== expected)
    throw new AppError(
      'VDB_CONNECTION_ERROR',
      `Of the ${expected} shards of the index ${index}, ${shards.length} are there.`,
    );
  return {
    writes: shards.map(([, copies]) => Math.max(...copies.map(({ seq_no }) => seq_no.local_checkpoint))),
    searches: found?.total.search.groups?.[SEARCHES]?.query_total ?? 0,
  };
}

/** A page of writes of one shard: those behind `after`, up to `upTo`. */
export interface ShardPage {
  shard: number;
  after: number;
  upTo: number;
}

/**
 * The next page of about so many writes, in equal parts of the shards that have some.
 * @param reached an earlier release had one number, for its one shard
 */
export function nextPage(
  reached: WritesReached | number,
  known: readonly number[],
  size: number,
): { pages: ShardPage[]; reached: number[] } {
  const before = [reached].flat();
  const from = known.map((_, shard) => before[shard] ?? -1);
  const behind = from.filter((after, shard) => after < known[shard]!).length;
  const each = Math.ceil(size / Math.max(1, behind));
  const to = from.map((after, shard) => Math.max(after, Math.min(known[shard]!, after + each)));
  const pages = from.map((after, shard) => ({ shard, after, upTo: to[shard]! }));
  return { pages: pages.filter(({ after, upTo }) => after < upTo), reached: to };
}
