import { AppError } from '../../../schemas/app-error.js';
import type { ChunkIndex, ChunkIndexes, CopiedPage, VectorFields } from '../../ports/migrations.js';
import { aliasedIndex } from './aliased-index.js';
import { countUnlike, generationsOf, hasSameChunks } from './compare-chunks.js';
import { ofGeneration } from './of-generation.js';
import { indexNames } from './index-names.js';
import type { OpenSearchClient } from './connect-opensearch.js';
import { deleteChunks } from './delete-chunks.js';
import {
  assertMapping,
  chunkMapping,
  indexSettings,
  isUnitField,
  SCHEMA_STEP,
  SCHEMA_VERSION,
  vectorMapping,
} from './mapping.js';
import { hasEngineType } from './opensearch-errors.js';
import {
  MAX_SECTION_ID,
  SECTION_FIELDS,
  SHARED_VECTOR_FIELD,
  reindexChunks,
  reindexWrites,
} from './reindex-chunks.js';
import { scanGenerations } from './scan-generations.js';
import { hitsOf } from './search-hits.js';
import type { SearchAnswer } from './search-hits.js';
import { stopCopies } from './stop-copies.js';
import { layoutSettings } from './index-layout.js';
import type { IndexLayout } from './index-layout.js';
import { readIndexSettings } from './index-settings.js';
import { ensureSegmentSearch } from './segment-search.js';
import { nextPage, readActivity } from './writes-reached.js';

/** The fields of a stored chunk. */
type Source = Record<string, unknown>;

interface IndexMeta {
  schema_version?: number;
  step?: number;
  replaced?: NonNullable<ChunkIndex['replaced']>;
  /** Until it is switched to. */
  building?: boolean;
  /** Whose chunks these are; see `owner.ts`. */
  record_store?: string;
}
interface MappingAnswer {
  [index: string]: {
    mappings: {
      _meta?: IndexMeta;
      dynamic?: string;
      properties?: Record<string, { type?: string; dimension?: number; meta?: { length?: string } }>;
    };
  };
}
/**
 * Of an index that is being built, which no search reads: each refresh would end a segment with a graph of its own, all
 * of which have to be merged.
 */
const NEVER = '-1';

/** The indexes of the chunks: the one behind the alias that `createOpenSearchChunkStore` uses, and those beside it. */
export function createChunkIndexes(
  client: OpenSearchClient,
  options: { indexPrefix: string } & IndexLayout,
): ChunkIndexes {
  const { alias, first } = indexNames(options);

  const mappings = (pattern: string): Promise<MappingAnswer> =>
    client.request<MappingAnswer>('GET', `/${pattern}/_mapping`, { query: { ignore_unavailable: true } });

  /** One of a release that had no alias counts too. */
  const liveIndex = async (): Promise<string | null> =>
    (await aliasedIndex(client, alias)) ?? Object.keys(await mappings(first))[0] ?? null;

  /** As those that a migration makes; an operator may have made others whose names begin alike. */
  const isNumbered = (index: string): boolean => /^\d+$/.test(index.slice(first.length + 1));

  const shardsOf = async (index: string): Promise<number> =>
    Number((await readIndexSettings(client, index))['index.number_of_shards']);

  const shardsOfBoth = async (pair: { source: string; target: string }) => {
    const [source, target] = await Promise.all([shardsOf(pair.source), shardsOf(pair.target)]);
    return { source, target };
  };

  const vectorFields: ChunkIndexes['vectorFields'] = async (index) => {
    const [found] = Object.values(await mappings(index));
    return Object.entries(found?.mappings.properties ?? {}).flatMap(([vectorField, field]) =>
      field.type === 'knn_vector' && field.dimension !== undefined
        ? [{ vectorField, dimension: field.dimension, unit: isUnitField(field) }]
        : [],
    );
  };

  /** An embedder may have come since the target was made, or a release that has another field. */
  const addNewFields = async (source: string, target: string): Promise<void> => {
    const [vectors, [from], [to]] = await Promise.all([
      vectorFields(source),
      mappings(source).then(Object.values<MappingAnswer[string]>),
      mappings(target).then(Object.values<MappingAnswer[string]>),
    ]);
    const present = to?.mappings.properties ?? {};
    const wanted = {
      ...chunkMapping.properties,
      ...Object.fromEntries(
        vectors.map(({ vectorField, dimension, unit }) => [vectorField, vectorMapping(dimension, { unit })]),
      ),
    };
    const missing = Object.entries(wanted).filter(
      ([name]) => Object.hasOwn(from?.mappings.properties ?? {}, name) && !Object.hasOwn(present, name),
    );
    if (missing.length === 0) return;
    const properties = Object.fromEntries(missing);
    assertMapping({ properties });
    await client.request('PUT', `/${target}/_mapping`, { body: { properties } });
  };

  const countOf = async (index: string, query: object): Promise<number> => {
    const { count } = await client.request<{ count: number }>('POST', `/${index}/_count`, {
      body: { query },
    });
    return count;
  };

  /** Some chunks of an index, always the same ones, each with what another index has of it. */
  const samplePairs = async (
    { source, target }: { source: string; target: string },
    size: number,
    query?: object,
  ): Promise<{ own: Source; copy: Source | undefined }[]> => {
    const random_score = { seed: 1, field: '_seq_no' };
    const held = await client.request<SearchAnswer<{ _id: string; _source: Source }>>(
      'POST',
      `/${source}/_search`,
      { body: { size, query: { function_score: { ...(query && { query }), random_score } } } },
    );
    const hits = hitsOf(held);
    if (hits.length === 0) return [];
    const docs = hits.map(({ _id, _source }) => ({ _id, routing: _source['partition'] }));
    const copies = await client.request<{ docs: { _source?: Source }[] }>('POST', `/${target}/_mget`, {
      body: { docs },
    });
    return hits.map(({ _source: own }, at) => ({ own, copy: copies.docs[at]?._source }));
  };

  /** What is written from now on is what the replaced index lacks. The chunks stay whose they were. */
  const noteReplaced = async (target: string, index: string): Promise<void> => {
    const [found] = Object.values(await mappings(target));
    const replaced = { index, writes: (await readActivity(client, target, await shardsOf(target))).writes };
    const [former] = Object.values(await mappings(index));
    const owner = former?.mappings._meta?.record_store;
    const { building: _over, ...meta } = found?.mappings._meta ?? {};
    await client.request('PUT', `/${target}/_mapping`, {
      body: { _meta: { ...meta, ...(owner === undefined ? {} : { record_store: owner }), replaced } },
    });
  };

  return {
    present: { schema: SCHEMA_VERSION, step: SCHEMA_STEP, shards: options.shards ?? null },

    async list() {
      const [found, live] = await Promise.all([mappings(`${first},${first}-*`), liveIndex()]);
      return Promise.all(
        Object.entries(found)
          .sort(([one], [other]) => (one < other ? -1 : 1))
          .map(async ([index, { mappings: mapping }]): Promise<ChunkIndex> => {
            const {
              schema_version: schema = SCHEMA_VERSION,
              step = 1,
              replaced = null,
            } = mapping._meta ?? {};
            const [chunks, shards] = await Promise.all([countOf(index, { match_all: {} }), shardsOf(index)]);
            return { index, live: index === live, schema, step, chunks, shards, replaced };
          }),
      );
    },

    async create(fields) {
      const found = await mappings(`${first},${first}-*`);
      const live = await liveIndex();
      // What an attempt left that was given up without a word.
      for (const [index, { mappings: mapping }] of Object.entries(found))
        if (mapping._meta?.building === true || (index !== live && isNumbered(index) && isStray(mapping))) {
          await stopCopies(client, index);
          await client.request('DELETE', `/${index}`);
        }
      const numbers = Object.keys(found).map((index) => Number(index.slice(first.length + 1)) || 1);
      const target = `${first}-${Math.max(...numbers) + 1}`;
      const mapping = {
        ...chunkMapping,
        _meta: { ...chunkMapping._meta, building: true },
        properties: {
          ...chunkMapping.properties,
          ...Object.fromEntries(
            fields.map(({ vectorField, dimension, unit }) => [
              vectorField,
              vectorMapping(dimension, { unit }),
            ]),
          ),
        },
      };
      assertMapping(mapping);
      const settings = {
        ...indexSettings,
        index: {
          ...indexSettings.index,
          ...layoutSettings(options),
          refresh_interval: NEVER,
        },
      };
      await client.request('PUT', `/${target}`, { body: { settings, mappings: mapping } });
      await ensureSegmentSearch(client, target, {});
      return target;
    },

    vectorFields,

    async copy({ source, target, after, size }, given): Promise<CopiedPage> {
      // Read before the refresh: every write up to here is over, and what follows shows it.
      const shards = await shardsOfBoth({ source, target });
      const { writes: known, searches } = await readActivity(client, source, shards.source);
      const { pages, reached } = nextPage(after, known, size);
      if (pages.length === 0) return { after: reached, copied: 0, complete: true, searches };
      await client.request('POST', `/${source}/_refresh`);
      if (given.fields === undefined) await addNewFields(source, target);
      return {
        after: reached,
        copied: await reindexWrites(client, { source, target, pages, shards }, given),
        complete: reached.every((at, shard) => at >= known[shard]!),
        searches,
      };
    },

    async align({ source, target }, given) {
      const [wanted, present] = [await generationsOf(client, source), await generationsOf(client, target)];
      const shards = await shardsOfBoth({ source, target });
      // A file that came since the last page was copied may have vectors of an embedder that came with it.
      if (given.fields === undefined) await addNewFields(source, target);
      let [written, deleted] = [0, 0];
      for (const [key, own] of present) {
        const expected = wanted.get(key);
        if (expected !== undefined && (await hasSameChunks(client, [source, expected], [target, own])))
          continue;
        given.signal.throwIfAborted();
        deleted += await deleteChunks(client, target, ofGeneration(own));
        present.delete(key);
      }
      for (const [key, expected] of wanted) {
        if (present.has(key)) continue;
        given.signal.throwIfAborted();
        const { chunks } = expected;
        const query = ofGeneration(expected);
        written += await reindexChunks(client, { source, query, target, chunks, shards }, given);
      }
      if (written > 0) await client.request('POST', `/${target}/_refresh`);
      return { written, deleted };
    },

    countUnlike: (pair) => countUnlike(client, pair),

    async compareVectors({ source, target }, { fields, sample }) {
      const pairs = await samplePairs({ source, target }, sample);
      const same = pairs.filter(
        ({ own, copy }) => copy !== undefined && vectorsOf(own, fields) === vectorsOf(copy),
      );
      return { compared: pairs.length, differing: pairs.length - same.length };
    },

    generations: (index) => scanGenerations(client, index),

    async countGeneration(index, version) {
      await client.request('POST', `/${index}/_refresh`);
      return countOf(index, ofGeneration(version));
    },

    countWithout: (index, { partition, vectorField }) =>
      countOf(index, {
        bool: {
          filter: [{ term: { partition } }, { term: { published: true } }],
          must_not: [{ exists: { field: vectorField } }],
        },
      }),

    async compareKeptVectors({ source, target }, { sample, partitions }) {
      const ofThese = { terms: { partition: partitions } };
      let [compared, differing] = [0, 0];
      for (const { own, copy } of await samplePairs({ source, target }, sample, ofThese)) {
        // Replaced or deleted since: whether that was right, the records say.
        if (copy === undefined) continue;
        compared += 1;
        const present = new Set(vectorsIn(copy).map(([, value]) => JSON.stringify(value)));
        if (vectorsIn(own).some(([, value]) => !present.has(JSON.stringify(value)))) differing += 1;
      }
      return { compared, differing };
    },

    async countTraps(index, partitions) {
      const known = { terms: { partition: partitions } };
      const unknown = { bool: { must_not: [known] } };
      const far = SECTION_FIELDS.map((field) => ({ range: { [field]: { gt: MAX_SECTION_ID } } }));
      const counted = {
        chunks_of_unknown_partitions: countOf(index, unknown),
        chunks_without_vector: countOf(index, {
          bool: { must_not: [{ exists: { field: SHARED_VECTOR_FIELD } }] },
        }),
        chunks_with_folded_section_ids: countOf(index, { bool: { should: far } }),
        chunks_with_integers_beyond_64_bits: countOf(index, { term: { _ignored: 'metadata.integer' } }),
      };
      const counts = await Promise.all(Object.values(counted));
      return Object.fromEntries(Object.keys(counted).map((figure, at) => [figure, counts[at]!]));
    },

    async blockWrites(index, blocked) {
      // Unlike the setting, this waits until the writes that are under way are over.
      if (blocked) await client.request('PUT', `/${index}/_block/write`);
      else await client.request('PUT', `/${index}/_settings`, { body: { 'index.blocks.write': null } });
    },

    async swap({ source, target }) {
      const { refresh_interval } = indexSettings.index;
      await client.request('PUT', `/${target}/_settings`, { body: { index: { refresh_interval } } });
      await client.request('POST', `/${target}/_refresh`);
      await noteReplaced(target, source);
      await client.request('POST', '/_aliases', {
        body: {
          actions: [
            ...((await aliasedIndex(client, alias)) === null ? [] : [{ remove: { index: source, alias } }]),
            { add: { index: target, alias } },
          ],
        },
      });
    },

    async drop(index) {
      if (index === (await liveIndex()))
        throw new AppError('MIGRATION_NOT_POSSIBLE', `Searches go to ${index}: it cannot be dropped.`);
      // The engine takes patterns and lists in place of a name: what it knows under just this name alone.
      if (!Object.hasOwn(await mappings(`${first},${first}-*`), index))
        throw new AppError('NOT_FOUND', `There is no index ${index}.`);
      await stopCopies(client, index);
      try {
        await client.request('DELETE', `/${encodeURIComponent(index)}`);
      } catch (error) {
        if (!hasEngineType(error, 'index_not_found_exception')) throw error;
        throw new AppError('NOT_FOUND', `There is no index ${index}.`);
      }
    },
  };
}

/** An index that the engine has made by itself: a copy went on when its target had been dropped. Ours are strict. */
function isStray({ _meta, dynamic }: MappingAnswer[string]['mappings']): boolean {
  return _meta === undefined && dynamic === undefined;
}

/** The fields of a stored chunk that are vectors. */
function vectorsIn(source: Record<string, unknown>): [string, unknown][] {
  return Object.entries(source).filter(
    ([field, value]) => Array.isArray(value) && typeof value[0] === 'number' && field !== 'heading_path',
  );
}

/** The vectors of a stored chunk as text; those of a shared field under the name that they get. */
function vectorsOf(source: Record<string, unknown>, fields?: VectorFields): string {
  const vectors = vectorsIn(source).flatMap(([field, value]): [string, unknown][] => {
    if (fields === undefined || field !== SHARED_VECTOR_FIELD) return [[field, value]];
    const partition = source['partition'];
    const moved =
      typeof partition === 'string' && Object.hasOwn(fields, partition) ? fields[partition] : undefined;
    return moved === undefined ? [] : [[moved, value]];
  });
  return JSON.stringify(vectors.sort(([one], [other]) => (one < other ? -1 : 1)));
}
