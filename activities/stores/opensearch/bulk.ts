import { AppError } from '../../../schemas/app-error.js';
import type { OpenSearchClient } from './connect-opensearch.js';
import { isAwayStatus, isBlocked, reasonText } from './opensearch-errors.js';

/** Big enough for throughput, far below the engine's 100 MB, and small beside its heap. */
const MAX_REQUEST_BYTES = 5 * 1024 * 1024;
const MAX_REQUEST_UPDATES = 2_000;

export interface BulkUpdate {
  id: string;
  /** The partition that the chunk is in: it says in which shard. */
  routing: string;
  /** The request body of one `update`. */
  body: object;
}

export interface BulkResult {
  id: string;
  status: number;
  result: string | null;
  reason: string | null;
  blocked: boolean;
}

interface BulkAnswer {
  errors: boolean;
  items: { update: { _id: string; status: number; result?: string; error?: unknown } }[];
}

/**
 * Sends updates in requests of bounded size, one after the other, and answers what became of each.
 * @param options.signal ends it between two requests: one that was sent is waited for
 * @throws AppError VDB_CONNECTION_ERROR when the engine had no room for an item: all of it may be repeated
 */
export async function bulkUpdate(
  client: OpenSearchClient,
  index: string,
  updates: Iterable<BulkUpdate>,
  options: { refresh: 'wait_for' | 'false'; signal?: AbortSignal | undefined },
): Promise<BulkResult[]> {
  const results: BulkResult[] = [];
  let lines: string[] = [];
  let bytes = 0;
  const send = async (refresh: 'wait_for' | 'false') => {
    if (lines.length === 0) return;
    options.signal?.throwIfAborted();
    // Without the signal: the engine ends what it was sent, also where the line is closed, and what it writes would
    // come after the caller has ended and been cleaned up behind.
    const answer = await client.request<BulkAnswer>('POST', `/${index}/_bulk`, {
      lines,
      // Without it a write that finds no alias would make an index of its name, with a mapping of its own.
      query: { refresh, require_alias: true },
      timeoutMs: 120_000,
      refused: 'VDB_INSERT_ERROR',
    });
    results.push(...answer.items.map(({ update }) => toResult(update)));
    lines = [];
    bytes = 0;
  };
  for (const { id, routing, body } of updates) {
    const action = JSON.stringify({ update: { _id: id, routing, retry_on_conflict: 3 } });
    const line = JSON.stringify(body);
    const size = Buffer.byteLength(line) + action.length + 2;
    if (bytes + size > MAX_REQUEST_BYTES || lines.length >= 2 * MAX_REQUEST_UPDATES) await send('false');
    lines.push(action, line);
    bytes += size;
  }
  // What makes the last request visible has made those before it visible: callers that wait have one partition.
  await send(options.refresh);
  const away = results.find(({ status, blocked }) => blocked || isAwayStatus(status));
  if (away !== undefined) throw new AppError('VDB_CONNECTION_ERROR', away.reason ?? undefined);
  return results;
}

function toResult(item: BulkAnswer['items'][number]['update']): BulkResult {
  return {
    id: item._id,
    status: item.status,
    result: item.result ?? null,
    reason: item.error === undefined ? null : reasonText(item.error),
    blocked: isBlocked(item.error),
  };
}
