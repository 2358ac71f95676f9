import { setTimeout as pause } from 'node:timers/promises';
import { AppError } from '../../../schemas/app-error.js';
import { bulkUpdate } from './bulk.js';
import type { OpenSearchClient } from './connect-opensearch.js';
import { ofGeneration } from './of-generation.js';
import { isAwayStatus } from './opensearch-errors.js';
import { readByIds } from './read-by-ids.js';
import { routingOf } from './routing.js';
import { PAGE_WITH_VECTORS } from './scan-chunks.js';
import { hitsOf } from './search-hits.js';
import type { SearchAnswer } from './search-hits.js';

/** Times that a chunk was changed while it was copied. */
const MAX_CONFLICTS = 20;
/** Two that move the same chunks each take as long as a refresh for a page: they have to miss each other. */
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 3_000;

interface PlacedHit {
  _id: string;
  _routing?: string;
  _seq_no: number;
  _primary_term: number;
  _source: Record<string, unknown>;
}

interface DeletionAnswer {
  items: { delete: { status: number } }[];
}

/**
 * Brings the chunks of a version that are in the shards of other partitions to the one of its own. Each is copied, and
 * then deleted where it was read unless it was changed meanwhile: whatever runs beside this, and whenever it ends, each
 * chunk is in some shard. What comes to other shards meanwhile is left to who brought it there, who looks at the record
 * of the file once more.
 * @param version.doc fields that change with the move, the partition among them
 * @throws AppError VDB_INSERT_ERROR, VDB_CONNECTION_ERROR, VDB_ERROR
 */
export async function relocateChunks(
  client: OpenSearchClient,
  index: string,
  version: { fileKey: string; generation: number; doc: { partition: string } & Record<string, unknown> },
  signal?: AbortSignal,
): Promise<void> {
  const { fileKey, generation, doc } = version;
  const copyAll = async (hits: readonly PlacedHit[]): Promise<void> => {
    const copies = hits.map(({ _id, _source }) => ({
      id: _id,
      routing: doc.partition,
      // A write even where nothing differs: who read that chunk, to bring it elsewhere, may not delete it then.
      body: { doc: { ..._source, ...doc }, doc_as_upsert: true, detect_noop: false },
    }));
    const results = await bulkUpdate(client, index, copies, { refresh: 'wait_for', signal });
    const failed = results.find(({ status }) => status >= 300);
    if (failed !== undefined) throw new AppError('VDB_ERROR', failed.reason ?? undefined);
  };
  const read = async ({ name, beside }: Layout, after: number): Promise<PlacedHit[]> => {
    const query = {
      bool: { filter: [ofGeneration({ fileKey, generation }), { range: { position: { gt: after } } }] },
    };
    const answer = await client.request<SearchAnswer<PlacedHit>>('POST', `/${name}/_search`, {
      query: { preference: `_shards:${beside.join(',')}` },
      body: {
        size: PAGE_WITH_VECTORS,
        track_total_hits: false,
        seq_no_primary_term: true,
        sort: [{ position: 'asc' }],
        query,
      },
      signal,
      refused: 'VDB_SEARCH_ERROR',
    });
    return hitsOf(answer);
  };
  let conflicts = 0;
  for (let after = -1; ;) {
    const layout = await layoutFor(client, index, doc.partition);
    const hits = layout.beside.length === 0 ? [] : await read(layout, after);
    const last = hits.at(-1);
    if (last === undefined) {
      // A migration may have put another index behind the alias, with other shards, since this began.
      if ((await layoutFor(client, index, doc.partition)).name === layout.name) return;
      after = -1;
      continue;
    }
    await copyAll(hits);
    if (await deleteAsRead(client, index, hits)) after = Number(last._source['position']) - 1;
    else if (conflicts < MAX_CONFLICTS) {
      conflicts += 1;
      await pause(Math.random() * Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** conflicts));
    } else throw new AppError('VDB_ERROR', 'Chunks keep changing while they are moved.');
  }
}

interface Layout {
  name: string;
  /** The shards that the partition is not in. */
  beside: number[];
}

interface ShardsAnswer {
  shards: { index: string; shard: number }[][];
}

/** The index behind an alias, and its shards. */
async function layoutFor(client: OpenSearchClient, alias: string, partition: string): Promise<Layout> {
  for (;;) {
    const ask = (query: Record<string, string>): Promise<ShardsAnswer> =>
      client.request<ShardsAnswer>('GET', `/${alias}/_search_shards`, { query });
    const [all, own] = (await Promise.all([ask({}), ask(routingOf([partition]))])).map(({ shards }) =>
      shards.flat(),
    );
    const name = all![0]?.index ?? '';
    // Asked in the moment in which the alias went over to another index.
    if (own!.some(({ index }) => index !== name)) continue;
    const mine = new Set(own!.map(({ shard }) => shard));
    return { name, beside: [...new Set(all!.map(({ shard }) => shard))].filter((shard) => !mine.has(shard)) };
  }
}

/** Whether none was changed since. */
async function deleteAsRead(
  client: OpenSearchClient,
  index: string,
  hits: readonly PlacedHit[],
): Promise<boolean> {
  const { items } = await client.request<DeletionAnswer>('POST', `/${index}/_bulk`, {
    lines: hits.map(({ _id, _routing, _seq_no, _primary_term }) => ({
      delete: { _id, routing: _routing, if_seq_no: _seq_no, if_primary_term: _primary_term },
    })),
    query: { refresh: true, require_alias: true },
    timeoutMs: 120_000,
    refused: 'VDB_DELETE_ERROR',
  });
  const away = items.find(({ delete: { status } }) => isAwayStatus(status));
  if (away !== undefined) throw new AppError('VDB_CONNECTION_ERROR');
  return items.every(({ delete: { status } }) => status < 300 || status === 404);
}

/** The partitions of chunks that searches see, by id, wherever they are. */
export function placesOf(
  client: OpenSearchClient,
  index: string,
  ids: readonly string[],
  signal?: AbortSignal,
): Promise<Map<string, { partition: string; published: boolean }>> {
  return readByIds(client, index, { ids, fields: ['partition', 'published'], signal });
}
