import type { OpenSearchClient } from './connect-opensearch.js';

/** By their whole names, as `index.number_of_replicas`. */
export type IndexSettings = Readonly<Record<string, unknown>>;

/** What an index, or the one behind an alias, is set to. */
export async function readIndexSettings(client: OpenSearchClient, index: string): Promise<IndexSettings> {
  const answer = await client.request<Record<string, { settings: IndexSettings }>>(
    'GET',
    `/${index}/_settings`,
    {
      query: { flat_settings: true },
    },
  );
  return Object.values(answer)[0]?.settings ?? {};
}

/** Sets what is not so already: most starts find an index as they want it. */
export async function changeIndexSettings(
  client: OpenSearchClient,
  index: string,
  { present, wanted }: { present: IndexSettings; wanted: Readonly<Record<string, string>> },
): Promise<void> {
  if (Object.entries(wanted).every(([name, value]) => present[`index.${name}`] === value)) return;
  await client.request('PUT', `/${index}/_settings`, {
    body: { index: wanted },
    refused: 'VDB_COLLECTION_ERROR',
  });
}
