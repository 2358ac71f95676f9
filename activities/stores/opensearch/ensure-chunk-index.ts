import { AppError } from '../../../schemas/app-error.js';
import type { OpenSearchClient } from './connect-opensearch.js';
import { assertMapping, chunkMapping, indexSettings, SCHEMA_VERSION, vectorMapping } from './mapping.js';
import { hasEngineType } from './opensearch-errors.js';
import { ensureSimilarity } from './similarity.js';

type MappingAnswer = Record<
  string,
  { mappings: { _meta?: { schema_version?: number }; properties?: Record<string, unknown> } }
>;

const readMapping = async (client: OpenSearchClient, index: string) =>
  Object.values(await client.request<MappingAnswer>('GET', `/${index}/_mapping`))[0]?.mappings;

/** Refuses an index that another release has written; one that names no version is of the first that had one. */
const requirePresentVersion = async (client: OpenSearchClient, index: string): Promise<void> => {
  const found = await readMapping(client, index);
  const stored = found?._meta?.schema_version ?? SCHEMA_VERSION;
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
};

/** Whether an error says that the store is of an older release, and not that one of its fields is another. */
export const isSchemaBehind = (error: unknown): boolean =>
  error instanceof AppError &&
  error.code === 'VDB_SCHEMA_MIGRATION_REQUIRED' &&
  error.details['stored_schema_version'] !== undefined;

/**
 * Creates the chunk index if it is missing and adds the vector fields it lacks; several processes may do so at
 * once.
 * @throws AppError VDB_SCHEMA_MIGRATION_REQUIRED when the index is of an older release, which is then left as it is, or
 * has one of the fields with another shape; VDB_COLLECTION_ERROR when the engine refuses to create it,
 * or a newer release has
 */
export const ensureChunkIndex = async (
  client: OpenSearchClient,
  index: string,
  fields: readonly { vectorField: string; dimension: number }[],
): Promise<void> => {
  assertMapping(chunkMapping);
  try {
    await client.request('PUT', `/${index}`, {
      body: { settings: indexSettings, mappings: chunkMapping },
      refused: 'VDB_COLLECTION_ERROR',
    });
  } catch (error) {
    if (!isThereAlready(error)) throw error;
    await requirePresentVersion(client, index);
    await ensureSimilarity(client, index);
  }
  // Base fields too: a version that adds one finds an index that lacks it. What is there may be of an earlier step.
  const { properties: present = {} } = (await readMapping(client, index)) ?? {};
  const missing = Object.entries(chunkMapping.properties).filter(([name]) => !Object.hasOwn(present, name));
  const mapping = {
    properties: {
      ...Object.fromEntries(missing),
      ...Object.fromEntries(
        fields.map(({ vectorField, dimension }) => [vectorField, vectorMapping(dimension)]),
      ),
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
};

/** The name is that of an index, or, after a migration, that of an alias. */
const isThereAlready = (error: unknown): boolean =>
  hasEngineType(error, 'resource_already_exists_exception') ||
  hasEngineType(error, 'invalid_index_name_exception');
