import type { OpenSearchClient } from '../../activities/stores/opensearch/connect-opensearch.js';
import { chunkMapping, indexSettings, vectorMapping } from '../../activities/stores/opensearch/mapping.js';

const { similarity: _ours, ...earlierSettings } = indexSettings;
const { context: _later, ...earlierProperties } = chunkMapping.properties;
const integer = { type: 'integer' };

/** An index as the first release of schema 3 made it: section ids of 32 bits, words weighed over all tenants. */
export async function createFirstIndex(
  client: OpenSearchClient,
  index: string,
  fields: readonly { vectorField: string; dimension: number }[],
): Promise<void> {
  await client.request('PUT', `/${index}`, {
    body: {
      settings: earlierSettings,
      mappings: {
        ...chunkMapping,
        _meta: { schema_version: 3 },
        properties: {
          ...earlierProperties,
          section_id: integer,
          prev_section_id: integer,
          next_section_id: integer,
          ...Object.fromEntries(
            fields.map(({ vectorField, dimension }) => [vectorField, vectorMapping(dimension)]),
          ),
        },
      },
    },
  });
}

/** Makes an index one of schema 2 again: the vectors of all partitions in one field. No process may use it. */
export async function turnBackToSchemaTwo(
  client: OpenSearchClient,
  index: string,
  { vectorField, dimension }: { vectorField: string; dimension: number },
): Promise<void> {
  const aside = `${index}-aside`;
  await client.request('PUT', `/${aside}`, {
    body: {
      settings: earlierSettings,
      mappings: {
        ...chunkMapping,
        _meta: { schema_version: 2 },
        properties: { ...earlierProperties, vector: vectorMapping(dimension) },
      },
    },
  });
  const script = {
    lang: 'painless',
    source: 'ctx._source.vector = ctx._source.remove(params.field)',
    params: { field: vectorField },
  };
  await client.request('POST', '/_reindex', {
    body: { source: { index }, dest: { index: aside }, script },
    query: { refresh: true },
    timeoutMs: 600_000,
  });
  await client.request('DELETE', `/${index}`);
  await client.request('PUT', `/${aside}/_block/write`);
  await client.request('PUT', `/${aside}/_clone/${index}`, {
    body: { settings: { 'index.blocks.write': null } },
    query: { wait_for_active_shards: 1 },
    timeoutMs: 600_000,
  });
  await client.request('DELETE', `/${aside}`);
}
