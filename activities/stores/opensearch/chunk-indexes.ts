import { AppError } from '../../../schemas/app-error.js';
import type { ChunkIndex, ChunkIndexes } from '../../ports/migrations.js';
import { aliasedIndex } from './aliased-index.js';
import { countUnlike } from './compare-chunks.js';
import { createIndexComparison } from './compare-indexes.js';
import type { OpenSearchClient } from './connect-opensearch.js';
import { createIndexCopier } from './copy-index.js';
import { layoutSettings } from './index-layout.js';
import type { IndexLayout } from './index-layout.js';
import { indexNames } from './index-names.js';
import {
  assertMapping,
  chunkMapping,
  indexSettings,
  SCHEMA_STEP,
  SCHEMA_VERSION,
  vectorProperties,
} from './mapping.js';
import { ofGeneration } from './of-generation.js';
import { hasEngineType } from './opensearch-errors.js';
import { createIndexReader } from './read-indexes.js';
import type { MappingAnswer } from './read-indexes.js';
import { scanGenerations } from './scan-generations.js';
import { ensureSegmentSearch } from './segment-search.js';
import { stopCopies } from './stop-copies.js';
import { readActivity } from './writes-reached.js';

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

  const reader = createIndexReader(client);
  const { mappings, shardsOf, countOf } = reader;

  /** One of a release that had no alias counts too. */
  const liveIndex = async (): Promise<string | null> =>
    (await aliasedIndex(client, alias)) ?? Object.keys(await mappings(first))[0] ?? null;

  /** As those that a migration makes; an operator may have made others whose names begin alike. */
  const isNumbered = (index: string): boolean => /^\d+$/.test(index.slice(first.length + 1));

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
          ...vectorProperties(fields),
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

    vectorFields: reader.vectorFields,
    ...createIndexCopier(client, reader),
    ...createIndexComparison(client, reader),

    countUnlike: (pair) => countUnlike(client, pair),

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
