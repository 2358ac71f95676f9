import type { EmbedderSwapStore } from '../../../../activities/ports/embedder-swaps.js';
import type { EmbedderSwapRecord } from '../../../../schemas/documents/embedder-swaps.js';
import { begunNow } from '../../../../schemas/run-record.js';
import { copyRecord } from '../copy-record.js';

/** Swaps in a Map, in the order in which they began. */
export function createFakeEmbedderSwapStore(): EmbedderSwapStore {
  const swaps = new Map<string, EmbedderSwapRecord>();
  const newestFirst = (): EmbedderSwapRecord[] => [...swaps.values()].reverse();
  const change = (
    swapId: string,
    fields: (swap: EmbedderSwapRecord) => Partial<EmbedderSwapRecord>,
  ): void => {
    const swap = swaps.get(swapId);
    if (swap?.status === 'running')
      swaps.set(swapId, { ...swap, ...copyRecord(fields(swap)), updated_at: new Date() });
  };
  return {
    async insert(given) {
      if (swaps.has(given.swap_id)) return;
      swaps.set(given.swap_id, {
        ...given,
        status: 'running',
        phase: 'starting',
        files_total: null,
        files_done: 0,
        chunks_over_window: 0,
        figures: null,
        ...begunNow(),
      });
    },
    async get(swapId) {
      return copyRecord(swaps.get(swapId) ?? null);
    },
    async latest(partitionKey) {
      return copyRecord(newestFirst().find((swap) => swap.partition_key === partitionKey) ?? null);
    },
    async latestOfEach(partitionKeys) {
      const newest = new Map<string, EmbedderSwapRecord>();
      for (const swap of newestFirst())
        if (partitionKeys.includes(swap.partition_key) && !newest.has(swap.partition_key))
          newest.set(swap.partition_key, copyRecord(swap));
      return newest;
    },
    async list(limit) {
      return copyRecord(newestFirst().slice(0, limit));
    },
    async report(swapId, progress) {
      change(swapId, ({ files_done }) => ({
        ...progress,
        files_done: Math.max(files_done, progress.files_done),
      }));
    },
    async finish(swapId, { status, error, code = null }) {
      change(swapId, () => ({ status, error, error_code: code, finished_at: new Date() }));
    },
  };
}
