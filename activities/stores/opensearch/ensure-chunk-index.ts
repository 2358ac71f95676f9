import { AppError } from '../../../schemas/app-error.js';
import { aliasedIndex } from './aliased-index.js';
import type { OpenSearchClient } from './connect-opensearch.js';
import { assertMapping, chunkMapping, indexSettings, SCHEMA_VERSION, vectorProperties } from './mapping.js';
import { hasEngineType } from './opensearch-errors.js';
import type { IndexNames } from './index-names.js';
import { ensureReplicas, layoutSettings } from './index-layout.js';
import type { IndexLayout } from './index-layout.js';
import { ensureSegmentSearch } from './segment-search.js';
import { ensureSimilarity } from './similarity.js';

interface StoredMapping {
  _meta?: { schema_version?: number };
  properties?: Record<string, { dimension?: number }>;
}
type MappingAnswer = Record<string, { mappings: StoredMapping }>;

/** Refuses an index that another release has written; one that names no version is of the first that had one. */
async function requirePresentVersion(client: OpenSearchClient, index: string): Promise<StoredMapping> {
  const answer = await client.request<MappingAnswer>('GET', `/${index}/_mapping`);
  const found = Object.values(answer)[0]?.mappings ?? {};
  const stored = found._meta?.schema_version ?? SCHEMA_VERSION;
  if (stored < SCHEMA_VERSION)
    throw new AppError(
      'VDB_SCHEMA_MIGRATION_REQUIRED',
      `The index ${index} has schema version ${stored}; this release needs ${SCHEMA_VERSION}. Migrate it first.`,
      { details: { stored_schema_version: stored, schema_version: SCHEMA_VERSION } },
    );
  if (stored > SCHEMA_VERSION)
    throw new AppError(
      'VDB_COLLECTION_ERROR',
      `The index ${index} has schema version ${stored}, of a newer release than this one (${SCHEMA_VERSION}).`,
    );
  return found;
}

/** Whether an error says that the store is of an older release, and not that one of its fields is another. */
export function isSchemaBehind(error: unknown): boolean {
  return (
    error instanceof AppError &&
    error.code === 'VDB_SCHEMA_MIGRATION_REQUIRED' &&
    error.details['stored_schema_version'] !== undefined
  );
}

/**
 * Creates the chunk index if it is missing and adds the vector fields it lacks; several processes may do so at
 * once.
 * @throws AppError VDB_SCHEMA_MIGRATION_REQUIRED when the index is of an older release, which is then left as it is, or
 * has one of the fields with another shape; VDB_COLLECTION_ERROR when the engine refuses to create it,
 * or a newer release has
 */
export async function ensureChunkIndex(
  client: OpenSearchClient,
  given: IndexNames & IndexLayout,
  fields: readonly { vectorField: string; dimension: number }[],
): Promise<void> {
  const { alias: index, replicas = null } = given;
  assertMapping(chunkMapping);
  if ((await aliasedIndex(client, index)) === null) await createFirst(client, given);
  const { properties: present = {}, _meta: meta = {} } = await requirePresentVersion(client, index);
  const settings = await ensureSimilarity(client, index);
  await ensureSegmentSearch(client, index, settings);
  await ensureReplicas(client, index, settings, replicas);
  // Base fields too: a version that adds one finds an index that lacks it. What is there may be of an earlier step.
  const base = Object.entries(chunkMapping.properties).filter(([name]) => !Object.hasOwn(present, name));
  const vectors = fields.filter(
    ({ vectorField, dimension }) => present[vectorField]?.dimension !== dimension,
  );
  const isVersioned = meta.schema_version !== undefined;
  if (isVersioned && base.length === 0 && vectors.length === 0) return;
  const mapping = {
    ...(!isVersioned && { _meta: { ...meta, schema_version: SCHEMA_VERSION } }),
    properties: {
      ...Object.fromEntries(base),
      ...vectorProperties(vectors.map((field) => ({ ...field, unit: true }))),
    },
  };
  assertMapping(mapping);
  try {
    await client.request('PUT', `/${index}/_mapping`, {
      body: mapping,
      refused: 'VDB_SCHEMA_MIGRATION_REQUIRED',
    });
  } catch (error) {
    if (error instanceof AppError && error.code === 'VDB_SCHEMA_MIGRATION_REQUIRED')
      throw new AppError(error.code, `The index ${index} has other fields: ${error.message}`, {
        cause: error,
      });
    throw error;
  }
}

/** One that is there already is of a release that had no alias, or of a process that starts at the same moment. */
async function createFirst(
  client: OpenSearchClient,
  { alias, first, ...layout }: IndexNames & IndexLayout,
): Promise<void> {
  const settings = { ...indexSettings, index: { ...indexSettings.index, ...layoutSettings(layout) } };
  try {
    await client.request('PUT', `/${first}`, {
      body: { settings, mappings: chunkMapping, aliases: { [alias]: {} } },
      refused: 'VDB_COLLECTION_ERROR',
    });
  } catch (error) {
    if (!hasEngineType(error, 'resource_already_exists_exception')) throw error;
    await client.request('POST', '/_aliases', { body: { actions: [{ add: { index: first, alias } }] } });
  }
}
