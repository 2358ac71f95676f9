import type { OpenSearchClient } from './connect-opensearch.js';
import { changeIndexSettings } from './index-settings.js';
import type { IndexSettings } from './index-settings.js';

/** What an operator says of the index of the chunks; null or left out: nothing. */
export interface IndexLayout {
  /** Of an index that is made: its number never changes. */
  shards?: number | null;
  /** A number, or a range of which the engine has as many as there are nodes for. */
  replicas?: string | null;
}

/** What is set of an index that is made. */
export function layoutSettings({
  shards = null,
  replicas = null,
}: IndexLayout): Record<string, string | number> {
  return { ...(shards !== null && { number_of_shards: shards }), ...replicaSettings(replicas) };
}

/**
 * What is set of an index for as many copies as are asked for.
 * @param replicas a number, or a range of which the engine has as many as there are nodes for; null: nothing
 */
function replicaSettings(replicas: string | null): Record<string, string> {
  if (replicas === null) return {};
  // A number stays as long as the engine is not to follow the nodes.
  return replicas.includes('-')
    ? { auto_expand_replicas: replicas }
    : { auto_expand_replicas: 'false', number_of_replicas: replicas };
}

/**
 * Gives an index that is there as many copies as are asked for.
 * @throws AppError VDB_COLLECTION_ERROR when the engine refuses
 */
export async function ensureReplicas(
  client: OpenSearchClient,
  index: string,
  present: IndexSettings,
  replicas: string | null,
): Promise<void> {
  await changeIndexSettings(client, index, { present, wanted: replicaSettings(replicas) });
}
