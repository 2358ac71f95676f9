import type { OpenSearchClient } from './connect-opensearch.js';

interface NodesStats {
  nodes?: Record<string, { fs?: { total?: { total_in_bytes?: number; available_in_bytes?: number } } }>;
}

/**
 * The used part of the fullest data disk: what the engine's own watermarks compare. Null where it does not tell, as
 * managed engines and small users do not.
 */
export async function readDiskUse(client: OpenSearchClient): Promise<number | null> {
  const { nodes = {} } = await client.request<NodesStats>('GET', '/_nodes/stats/fs', { timeoutMs: 2_000 });
  const used = Object.values(nodes).flatMap(({ fs }) => {
    const { total_in_bytes: total, available_in_bytes: free } = fs?.total ?? {};
    return total === undefined || free === undefined || total === 0 ? [] : [1 - free / total];
  });
  return used.length === 0 ? null : Math.max(...used);
}
