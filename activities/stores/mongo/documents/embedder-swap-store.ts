import type { Db } from 'mongodb';
import type { EmbedderSwapRecord } from '../../../../schemas/documents/embedder-swaps.js';
import { begunNow, endedNow } from '../../../../schemas/run-record.js';
import type { EmbedderSwapStore } from '../../../ports/embedder-swaps.js';
import { withMongoErrors } from '../mongo-errors.js';

type SwapDocument = Omit<EmbedderSwapRecord, 'swap_id'> & { _id: string };

function fromDocument({ _id, ...rest }: SwapDocument): EmbedderSwapRecord {
  return { swap_id: _id, ...rest };
}

const newestFirst = { started_at: -1 } as const;

/** Swaps of partitions' embedders in collection `embedder_swaps`. */
export function createMongoEmbedderSwapStore(db: Db): EmbedderSwapStore {
  const swaps = db.collection<SwapDocument>('embedder_swaps');
  return withMongoErrors<EmbedderSwapStore>({
    async insert({ swap_id, ...given }) {
      await swaps.updateOne(
        { _id: swap_id },
        {
          $setOnInsert: {
            ...given,
            status: 'running',
            phase: 'starting',
            files_total: null,
            files_done: 0,
            chunks_over_window: 0,
            figures: null,
            ...begunNow(),
          },
        },
        { upsert: true },
      );
    },
    async get(swapId) {
      const found = await swaps.findOne({ _id: swapId });
      return found && fromDocument(found);
    },
    async latest(partitionKey) {
      const found = await swaps.findOne({ partition_key: partitionKey }, { sort: newestFirst });
      return found && fromDocument(found);
    },
    async latestOfEach(partitionKeys) {
      const newest = new Map<string, EmbedderSwapRecord>();
      if (partitionKeys.length === 0) return newest;
      // A partition has few of them, each begun by a person.
      const theirs = swaps.find({ partition_key: { $in: [...partitionKeys] } });
      for await (const found of theirs.sort({ partition_key: 1, ...newestFirst }))
        if (!newest.has(found.partition_key)) newest.set(found.partition_key, fromDocument(found));
      return newest;
    },
    async list(limit) {
      return (await swaps.find({}).sort(newestFirst).limit(limit).toArray()).map(fromDocument);
    },
    async report(swapId, { files_done, ...rest }) {
      await swaps.updateOne(
        { _id: swapId, status: 'running' },
        { $set: { ...rest, updated_at: new Date() }, $max: { files_done } },
      );
    },
    async finish(swapId, { status, error, code = null }) {
      await swaps.updateOne(
        { _id: swapId, status: 'running' },
        { $set: { status, error, error_code: code, ...endedNow() } },
      );
    },
  });
}
