import type { OpenSearchClient } from './connect-opensearch.js';
import { ofGeneration } from './of-generation.js';
import { scanGenerations } from './scan-generations.js';

const PAGE = 10_000;

interface Generation {
  fileKey: string;
  generation: number;
  chunks: number;
}

interface PositionsAnswer {
  aggregations: {
    positions: { after_key?: object; buckets: { key: { position: number } }[] };
  };
}

/** The versions that an index has, by a name of their own. */
export async function generationsOf(
  client: OpenSearchClient,
  index: string,
): Promise<Map<string, Generation>> {
  const found = new Map<string, Generation>();
  for await (const { fileKey, generation, chunks } of scanGenerations(client, index))
    found.set(`${generation}/${fileKey}`, { fileKey, generation, chunks });
  return found;
}

async function positionsOf(client: OpenSearchClient, index: string, of: Generation): Promise<number[]> {
  const positions: number[] = [];
  for (let after: object | undefined; ;) {
    const sources = [{ position: { terms: { field: 'position' } } }];
    const answer = await client.request<PositionsAnswer>('POST', `/${index}/_search`, {
      body: {
        size: 0,
        track_total_hits: false,
        query: ofGeneration(of),
        aggs: { positions: { composite: { size: PAGE, sources, ...(after && { after }) } } },
      },
    });
    const { buckets, after_key } = answer.aggregations.positions;
    positions.push(...buckets.map(({ key }) => key.position));
    if (after_key === undefined || buckets.length < PAGE) return positions;
    after = after_key;
  }
}

/**
 * Whether a target has the chunks of a version that the source has. The source may have more all the same: a chunk
 * whose move to the shard of another partition was cut short is there twice, until the move is taken up again.
 */
export async function hasSameChunks(
  client: OpenSearchClient,
  [source, wanted]: [string, Generation],
  [target, present]: [string, Generation],
): Promise<boolean> {
  if (present.chunks >= wanted.chunks) return present.chunks === wanted.chunks;
  const [positions, own] = await Promise.all([
    positionsOf(client, source, wanted),
    positionsOf(client, target, present),
  ]);
  return positions.length === own.length && positions.every((position, at) => position === own[at]);
}

/** How many versions do not have the same chunks in both. */
export async function countUnlike(
  client: OpenSearchClient,
  { source, target }: { source: string; target: string },
): Promise<number> {
  const [wanted, present] = [await generationsOf(client, source), await generationsOf(client, target)];
  let unlike = [...present.keys()].filter((name) => !wanted.has(name)).length;
  for (const [name, one] of wanted) {
    const other = present.get(name);
    if (other === undefined || !(await hasSameChunks(client, [source, one], [target, other]))) unlike += 1;
  }
  return unlike;
}
