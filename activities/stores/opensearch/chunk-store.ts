import { AppError } from '../../../schemas/app-error.js';
import { chunkId } from '../../../schemas/documents/chunk-id.js';
import { inScope } from '../../../schemas/documents/users.js';
import type { ChunkStore, ScanOptions } from '../../ports/chunks.js';
import { bulkUpdate } from './bulk.js';
import type { BulkResult, BulkUpdate } from './bulk.js';
import { createJointCalls } from '../../joint-calls.js';
import { toStoredEntry } from '../../documents/metadata-entries.js';
import { toSource, toStoredVector } from './chunk-document.js';
import { createChunkReader } from './chunk-reader.js';
import { createCandidateComparison } from './compare-candidates.js';
import type { OpenSearchClient } from './connect-opensearch.js';
import { deleteChunks } from './delete-chunks.js';
import { ensureChunkIndex, isSchemaBehind } from './ensure-chunk-index.js';
import { createHybridSearch } from './hybrid-search.js';
import { indexNames } from './index-names.js';
import type { IndexLayout } from './index-layout.js';
import { giveTo, ownerOf } from './owner.js';
import { placesOf, relocateChunks } from './relocate-chunks.js';
import { routingOf } from './routing.js';
import { scanChunks } from './scan-chunks.js';
import { scanGenerations } from './scan-generations.js';
import { createSharedRefresh } from './shared-refresh.js';

type VectorField = Parameters<ChunkStore['ensureSchema']>[0][number];

/**
 * Small documents that are stored at the same moment share a bulk request: each has the engine write its log to the
 * disk.
 */
const JOINT_UPDATES = 64;
const JOINT_WINDOW_MS = 2;

/** How long fields that are there are not looked at again before each write: a look is four requests. */
const SURE_MS = 60_000;

/** Chunks behind the alias `{indexPrefix}chunks`, with one vector field per embedder. */
export function createOpenSearchChunkStore(
  client: OpenSearchClient,
  options: { indexPrefix: string } & IndexLayout,
): ChunkStore {
  const names = { ...options, ...indexNames(options) };
  const index = names.alias;
  const refresh = createSharedRefresh(client, index);
  const legs = createHybridSearch(client, index);
  const putTogether = createJointCalls<BulkUpdate, BulkResult>({
    size: JOINT_UPDATES,
    windowMs: JOINT_WINDOW_MS,
    call: (updates, signal) => bulkUpdate(client, index, updates, { refresh: 'false', signal }),
    finishes: true,
    isForAll: (error) => error instanceof AppError && error.code === 'VDB_CONNECTION_ERROR',
  });
  /** Fields that could not be made sure of, since the index was of an older release; null: none. */
  let owed: VectorField[] | null = null;
  const requireSchema = async (): Promise<void> => {
    if (owed === null) return;
    await ensureChunkIndex(client, names, owed);
    owed = null;
  };
  /** Fields that were seen to be there, by name. What is gone since refuses a write, and is looked at again then. */
  const sure = new Map<string, VectorField & { until: number }>();
  const isSure = ({ vectorField, dimension }: VectorField): boolean => {
    const seen = sure.get(vectorField);
    return seen?.dimension === dimension && seen.until > Date.now();
  };
  const ensure = async (fields: readonly VectorField[]): Promise<void> => {
    for (const { vectorField } of fields) sure.delete(vectorField);
    try {
      await ensureChunkIndex(client, names, fields);
    } catch (error) {
      if (isSchemaBehind(error)) owed = [...(owed ?? []), ...fields];
      throw error;
    }
    for (const field of fields) sure.set(field.vectorField, { ...field, until: Date.now() + SURE_MS });
  };
  return {
    ensureSchema: ensure,

    async ensureField(field) {
      await requireSchema();
      if (!isSure(field)) await ensure([field]);
    },

    ownerOf: (recordStore) => ownerOf(client, index, recordStore),

    giveTo: (recordStore) => giveTo(client, index, recordStore),

    requireSchema,

    async put(chunks, vectorField, signal) {
      await requireSchema();
      const write = async () => {
        const results = await putTogether([...putUpdates(chunks, vectorField)], signal);
        return results.filter(({ status }) => status >= 300);
      };
      let refused = await write();
      const field = sure.get(vectorField);
      if (refused.length > 0 && field !== undefined) {
        await ensure([field]);
        refused = await write();
      }
      if (refused.length === 0) return;
      const message = refused[0]?.reason ?? undefined;
      // 404: the index itself is gone. 409 and 5xx: nothing that the chunk is to blame for.
      const blameless = refused.some(({ status }) => status === 404 || status === 409 || status >= 500);
      throw new AppError(blameless ? 'VDB_ERROR' : 'VDB_INSERT_ERROR', message, {
        details: { refused: refused.length },
      });
    },

    async publish(version, count, signal) {
      const results = await bulkUpdate(client, index, publishUpdates(version, count), {
        refresh: 'wait_for',
        signal,
      });
      const absent = results.filter(({ status }) => status === 404).map(({ id }) => id);
      // An attempt before this one may have published them, and a move of their file taken them elsewhere since.
      const places = absent.length === 0 ? null : await placesOf(client, index, absent, signal);
      const missing = absent.filter((id) => places?.get(id)?.published !== true).length;
      if (missing > 0)
        throw new AppError('VDB_ERROR', `${missing} of ${count} chunks to publish are missing.`, {
          details: { missing },
        });
      const failed = results.find(({ status }) => status >= 300 && status !== 404);
      if (failed !== undefined) throw new AppError('VDB_ERROR', failed.reason ?? undefined);
      // Published by an earlier attempt, which may have died before its refresh; `wait_for` waits for writes only.
      if (results.some(({ result }) => result === 'noop')) await refresh(signal);
    },

    async addVectors(vectors, vectorField, signal) {
      const given = vectors.filter(({ vector }) => vector.some((value) => value !== 0));
      const updates = given.map(({ chunkId: id, partition: routing, vector }) => ({
        id,
        routing,
        body: { doc: { [vectorField]: toStoredVector(vector, id) } },
      }));
      const write = async (some: BulkUpdate[]): Promise<Set<string>> => {
        const results = await bulkUpdate(client, index, some, { refresh: 'false', signal });
        const failed = results.find(({ status }) => status >= 300 && status !== 404);
        if (failed !== undefined) throw new AppError('VDB_INSERT_ERROR', failed.reason ?? undefined);
        return new Set(results.filter(({ status }) => status === 404).map(({ id }) => id));
      };
      const absent = await write(updates);
      if (absent.size === 0) return;
      // Their file may have been moved to another partition since they were read.
      const places = await placesOf(client, index, [...absent], signal);
      const moved = updates.flatMap((update) => {
        const place = absent.has(update.id) ? places.get(update.id) : undefined;
        return place === undefined ? [] : [{ ...update, routing: place.partition }];
      });
      if (moved.length > 0) await write(moved);
    },

    show: refresh,

    async searchWords(request) {
      await requireSchema();
      return legs.searchWords(request);
    },

    async searchHybrid(request) {
      await requireSchema();
      return legs.searchHybrid(request);
    },

    async countChunks(scope, partition) {
      if (!inScope(scope, partition)) return { chunks: 0, published: 0 };
      const { aggregations } = await client.request<{
        aggregations: { all: { doc_count: number; published: { doc_count: number } } };
      }>('POST', `/${index}/_search`, {
        query: routingOf([partition]),
        body: {
          size: 0,
          aggs: {
            all: {
              filter: { term: { partition } },
              aggs: { published: { filter: { term: { published: true } } } },
            },
          },
        },
        refused: 'VDB_SEARCH_ERROR',
      });
      const { doc_count: chunks, published } = aggregations.all;
      return { chunks, published: published.doc_count };
    },

    ...createCandidateComparison(client, index),

    ...createChunkReader(client, index),

    scanChunks: (generations: readonly number[], options?: ScanOptions) =>
      scanChunks(client, index, generations, options),

    async annotate(fileKey, generation, count, words, signal) {
      const doc = annotation(words);
      const updates = Array.from({ length: count }, (_, position) => ({
        id: chunkId(fileKey, generation, position),
        routing: words.partition,
        body: { doc },
      }));
      const results = await bulkUpdate(client, index, updates, { refresh: 'wait_for', signal });
      const failed = results.find(({ status }) => status >= 300 && status !== 404);
      if (failed !== undefined) throw new AppError('VDB_ERROR', failed.reason ?? undefined);
      await relocateChunks(client, index, { fileKey, generation, doc }, signal);
    },

    scanGenerations: () => scanGenerations(client, index),

    deleteGenerations: (fileKey, { keep, upTo }) =>
      deleteChunks(client, index, {
        bool: {
          filter: [{ term: { file_key: fileKey } }, { range: { generation: { lte: upTo } } }],
          must_not: keep.length === 0 ? [] : [{ terms: { generation: keep } }],
        },
      }),

    deleteFile: (fileKey) => deleteChunks(client, index, { term: { file_key: fileKey } }),
  };
}

/** Updates that insert what is missing, and change nothing where the same chunk is there already. */
function* putUpdates(chunks: Parameters<ChunkStore['put']>[0], vectorField: string): Generator<BulkUpdate> {
  for (const entry of chunks) {
    const { file_key: fileKey, generation, position } = entry.chunk;
    yield {
      id: chunkId(fileKey, generation, position),
      routing: entry.chunk.partition,
      body: { doc: toSource(entry, vectorField), doc_as_upsert: true },
    };
  }
}

function* publishUpdates(
  { partition: routing, fileKey, generation }: Parameters<ChunkStore['publish']>[0],
  count: number,
): Generator<BulkUpdate> {
  for (let position = 0; position < count; position += 1)
    yield { id: chunkId(fileKey, generation, position), routing, body: { doc: { published: true } } };
}

function annotation({
  partition,
  relationship_id,
  parent_id,
  metadata,
}: Parameters<ChunkStore['annotate']>[3]) {
  return { partition, relationship_id, parent_id, metadata: metadata.map(toStoredEntry) };
}
