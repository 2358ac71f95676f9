import { setTimeout as sleep } from 'node:timers/promises';
import type { OpenSearchClient } from './connect-opensearch.js';

/**
 * As long as the index's own `refresh_interval`: what waits no longer than that costs no more segments than it does.
 */
const PAUSE_MS = 250;

/**
 * Makes what was written before the call visible, and shares one refresh among all calls made while it is awaited: each
 * one writes a segment, and a segment per small file is what indexing would spend most of the engine's time on.
 * @throws AppError VDB_CONNECTION_ERROR, VDB_ERROR; the signal's reason
 */
export function createSharedRefresh(client: OpenSearchClient, index: string) {
  let previous: Promise<unknown> = Promise.resolve();
  let previousAt = -Infinity;
  let next: Promise<void> | null = null;

  const send = async (): Promise<void> => {
    await previous;
    const pause = previousAt + PAUSE_MS - performance.now();
    if (pause > 0) await sleep(pause);
    // From here on a newcomer's writes may be missed: it needs another one.
    next = null;
    previousAt = performance.now();
    const request = client.request<unknown>('POST', `/${index}/_refresh`);
    previous = request.catch(() => undefined);
    await request;
  };

  return async (signal?: AbortSignal): Promise<void> => {
    signal?.throwIfAborted();
    next ??= send();
    const shared = next;
    if (signal === undefined) return shared;
    let leave: () => void;
    const left = new Promise<never>((_, reject) => {
      leave = () => reject(signal.reason as Error);
      signal.addEventListener('abort', leave, { once: true });
    });
    try {
      await Promise.race([shared, left]);
    } finally {
      signal.removeEventListener('abort', leave!);
    }
  };
}
