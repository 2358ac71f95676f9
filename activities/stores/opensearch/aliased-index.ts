import type { OpenSearchClient } from './connect-opensearch.js';

/**
 * The index behind the alias; null: there is none yet. Asked of our indexes alone: `_cat/aliases` and `_alias/NAME`
 * want the right to read the aliases of every index of the cluster.
 */
export async function aliasedIndex(client: OpenSearchClient, alias: string): Promise<string | null> {
  const found = await client.request<{ [index: string]: { aliases: object } }>('GET', `/${alias}*/_alias`);
  return Object.entries(found).find(([, { aliases }]) => Object.hasOwn(aliases, alias))?.[0] ?? null;
}
