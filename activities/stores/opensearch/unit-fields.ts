import type { OpenSearchClient } from './connect-opensearch.js';
import { isUnitField } from './mapping.js';

interface MappingAnswer {
  [index: string]: { mappings: { properties?: Record<string, { meta?: { length?: string } }> } };
}

/**
 * Tells whether all vectors of a field have length 1. Asked once: a field stays what it was made as, in every index
 * that it is copied to.
 */
export function createUnitFields(client: OpenSearchClient, index: string) {
  const known = new Map<string, boolean>();
  return async (vectorField: string): Promise<boolean> => {
    const before = known.get(vectorField);
    if (before !== undefined) return before;
    const answer = await client.request<MappingAnswer>('GET', `/${index}/_mapping`, {
      query: { ignore_unavailable: true },
    });
    const field = Object.values(answer)[0]?.mappings.properties?.[vectorField];
    if (field === undefined) return false;
    known.set(vectorField, isUnitField(field));
    return isUnitField(field);
  };
}
