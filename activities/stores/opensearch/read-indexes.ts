import type { ChunkIndex, VectorField } from '../../ports/migrations.js';
import type { OpenSearchClient } from './connect-opensearch.js';
import { readIndexSettings } from './index-settings.js';
import { isUnitField } from './mapping.js';

interface IndexMeta {
  schema_version?: number;
  step?: number;
  replaced?: NonNullable<ChunkIndex['replaced']>;
  /** Until it is switched to. */
  building?: boolean;
  /** Whose chunks these are; see `owner.ts`. */
  record_store?: string;
}

export interface MappingAnswer {
  [index: string]: {
    mappings: {
      _meta?: IndexMeta;
      dynamic?: string;
      properties?: Record<string, { type?: string; dimension?: number; meta?: { length?: string } }>;
    };
  };
}

/** What an index says of itself. */
export interface IndexReader {
  /** By index, of all whose names a pattern names; none where there is none. */
  mappings(pattern: string): Promise<MappingAnswer>;
  shardsOf(index: string): Promise<number>;
  vectorFields(index: string): Promise<VectorField[]>;
  countOf(index: string, query: object): Promise<number>;
}

export function createIndexReader(client: OpenSearchClient): IndexReader {
  const mappings = (pattern: string): Promise<MappingAnswer> =>
    client.request<MappingAnswer>('GET', `/${pattern}/_mapping`, { query: { ignore_unavailable: true } });

  return {
    mappings,
    shardsOf: async (index) => Number((await readIndexSettings(client, index))['index.number_of_shards']),
    async vectorFields(index) {
      const [found] = Object.values(await mappings(index));
      return Object.entries(found?.mappings.properties ?? {}).flatMap(([vectorField, field]) =>
        field.type === 'knn_vector' && field.dimension !== undefined
          ? [{ vectorField, dimension: field.dimension, unit: isUnitField(field) }]
          : [],
      );
    },
    async countOf(index, query) {
      const { count } = await client.request<{ count: number }>('POST', `/${index}/_count`, {
        body: { query },
      });
      return count;
    },
  };
}
