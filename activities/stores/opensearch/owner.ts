import type { OpenSearchClient } from './connect-opensearch.js';

/** `_meta` of an index: what each of its keys says is theirs who write it. */
type Meta = { record_store?: string; [key: string]: unknown };

async function readMeta(client: OpenSearchClient, index: string): Promise<Meta> {
  const answer = await client.request<{ [index: string]: { mappings: { _meta?: Meta } } }>(
    'GET',
    `/${index}/_mapping`,
  );
  return Object.values(answer)[0]?.mappings._meta ?? {};
}

async function isEmpty(client: OpenSearchClient, index: string): Promise<boolean> {
  await client.request('POST', `/${index}/_refresh`);
  const { count } = await client.request<{ count: number }>('POST', `/${index}/_count`, {
    body: { query: { match_all: {} } },
  });
  return count === 0;
}

/** Names the record store in `_meta`, which the engine replaces as a whole. */
export async function giveTo(client: OpenSearchClient, index: string, recordStore: string): Promise<void> {
  const meta = await readMeta(client, index);
  if (meta.record_store === recordStore) return;
  await client.request('PUT', `/${index}/_mapping`, {
    body: { _meta: { ...meta, record_store: recordStore } },
  });
}

/** The record store that an index names; this one where it names none, or holds no chunk. */
export async function ownerOf(client: OpenSearchClient, index: string, recordStore: string): Promise<string> {
  const { record_store: named = recordStore } = await readMeta(client, index);
  if (named !== recordStore && !(await isEmpty(client, index))) return named;
  await giveTo(client, index, recordStore);
  return recordStore;
}
