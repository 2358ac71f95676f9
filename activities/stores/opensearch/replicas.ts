import type { OpenSearchClient } from './connect-opensearch.js';
import type { IndexSettings } from './index-settings.js';

/** One copy where there is a second node to hold it, none on a single one. */
const DEFAULT = '0-1';

/** @param replicas a number, or a range of which the engine has as many as there are nodes for; null: the default */
export function replicaSettings(replicas: string | null) {
  const wanted = replicas ?? DEFAULT;
  // A number stays as long as the engine is not to follow the nodes.
  return wanted.includes('-')
    ? { auto_expand_replicas: wanted }
    : { auto_expand_replicas: 'false', number_of_replicas: wanted };
}

/**
 * Gives an index that is there as many copies as are asked for.
 * @param replicas null: nothing is asked for, and it stays as it is
 * @throws AppError VDB_COLLECTION_ERROR when the engine refuses
 */
export async function ensureReplicas(
  client: OpenSearchClient,
  index: string,
  present: IndexSettings,
  replicas: string | null,
): Promise<void> {
  if (replicas === null) return;
  const wanted = replicaSettings(replicas);
  if (Object.entries(wanted).every(([name, value]) => present[`index.${name}`] === value)) return;
  await client.request('PUT', `/${index}/_settings`, {
    body: { index: wanted },
    refused: 'VDB_COLLECTION_ERROR',
  });
}
