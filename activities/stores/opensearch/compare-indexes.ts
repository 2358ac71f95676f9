import type { ChunkIndexes, VectorFields } from '../../ports/migrations.js';
import type { OpenSearchClient } from './connect-opensearch.js';
import type { IndexReader } from './read-indexes.js';
import { MAX_SECTION_ID, SECTION_FIELDS, SHARED_VECTOR_FIELD } from './reindex-chunks.js';
import { hitsOf } from './search-hits.js';
import type { SearchAnswer } from './search-hits.js';

/** The fields of a stored chunk. */
type Source = Record<string, unknown>;

/** How a copy differs from what it was made of, and what in an index stands in the way of one. */
export function createIndexComparison(
  client: OpenSearchClient,
  { countOf }: Pick<IndexReader, 'countOf'>,
): Pick<ChunkIndexes, 'compareVectors' | 'compareKeptVectors' | 'countTraps'> {
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

  return {
    async compareVectors({ source, target }, { fields, sample }) {
      const pairs = await samplePairs({ source, target }, sample);
      const same = pairs.filter(
        ({ own, copy }) => copy !== undefined && vectorsOf(own, fields) === vectorsOf(copy),
      );
      return { compared: pairs.length, differing: pairs.length - same.length };
    },

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
  };
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
