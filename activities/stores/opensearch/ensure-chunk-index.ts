import { AppError } from '../../../schemas/app-error.js';
import type { OpenSearchClient } from './connect-opensearch.js';
import { assertMapping, chunkMapping, indexSettings, vectorMapping } from './mapping.js';
import { hasEngineType } from './opensearch-errors.js';

/**
 * Creates the chunk index if it is missing and adds the vector fields it lacks; several processes may do so at
 * once.
 * @throws AppError VDB_SCHEMA_MIGRATION_REQUIRED when the index has one of the fields with another shape
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
    });
  } catch (error) {
    if (!hasEngineType(error, 'resource_already_exists_exception')) throw error;
  }
  // Base fields too: a version that adds one finds an index that lacks it.
  const mapping = {
    properties: {
      ...chunkMapping.properties,
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
