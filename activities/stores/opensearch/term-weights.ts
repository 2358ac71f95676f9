import type { OpenSearchClient } from './connect-opensearch.js';
import { readError } from './opensearch-errors.js';

/** Answers kept in a process: as many sets of partitions, and as many counted clauses of each. */
const MAX_PLACES = 200;
const MAX_CLAUSES_KEPT = 5_000;

/** A clause of a question: the query, without a boost, of one word in one field. */
export interface WordClause {
  field: string;
  word: string;
  type: 'match' | 'match_phrase';
}

export interface TermStatistics {
  /** Published chunks of the partitions. */
  chunks: number;
  /** Those in which the clause holds. */
  holding(clause: WordClause): number;
}

interface Place {
  /** Says which chunks were counted: each new version has a greater generation, each deletion leaves fewer. */
  fingerprint: string;
  chunks: number;
  counts: Map<string, number>;
}

interface CountAnswer {
  error?: unknown;
  status?: number;
  hits: { total: { value: number } };
  aggregations: {
    sum: { value: number | null };
    last: { value: number | null };
    words?: { buckets: Record<string, { doc_count: number }> };
  };
}

const keyOf = ({ field, word, type }: WordClause): string => `${type}\n${field}\n${word}`;

export const clauseQuery = ({ field, word, type }: WordClause, boost?: number): object => ({
  [type]: { [field]: boost === undefined ? { query: word } : { query: word, boost } },
});

/**
 * Counts published chunks in which words stand, in the searched partitions alone and without what is deleted: the
 * engine's own counts are of the whole index, shared by all tenants, and of deleted chunks until they are merged away.
 * One search counts what is not known yet, so that its counts are of one moment; what is known is kept as long as the
 * partitions hold the same versions. The engine answers a repeated question from its cache until the next refresh.
 */
export const createTermCounter = (client: OpenSearchClient, index: string) => {
  const places = new Map<string, Place>();

  const ask = async (
    partitions: readonly string[] | null,
    clauses: readonly WordClause[],
    signal: AbortSignal | undefined,
  ): Promise<Place> => {
    const answer = await client.request<CountAnswer>('POST', `/${index}/_search`, {
      query: { request_cache: true },
      body: {
        ...{ size: 0, track_total_hits: true },
        query: {
          bool: {
            filter: [
              { term: { published: true } },
              ...(partitions === null ? [] : [{ terms: { partition: partitions } }]),
            ],
          },
        },
        aggs: {
          sum: { sum: { field: 'generation' } },
          last: { max: { field: 'generation' } },
          ...(clauses.length > 0 && {
            words: {
              filters: {
                filters: Object.fromEntries(
                  clauses.map((clause, place) => [String(place), clauseQuery(clause)]),
                ),
              },
            },
          }),
        },
      },
      signal,
      refused: 'VDB_SEARCH_ERROR',
    });
    if (answer.error !== undefined) throw readError(answer);
    const { sum, last, words } = answer.aggregations;
    const chunks = answer.hits.total.value;
    return {
      fingerprint: JSON.stringify([chunks, sum.value, last.value]),
      chunks,
      counts: new Map(
        clauses.map((clause, place) => [keyOf(clause), words?.buckets[String(place)]?.doc_count ?? 0]),
      ),
    };
  };

  const keep = (name: string, place: Place): void => {
    places.delete(name);
    places.set(name, place);
    if (places.size > MAX_PLACES) places.delete(places.keys().next().value!);
    for (const key of place.counts.keys()) {
      if (place.counts.size <= MAX_CLAUSES_KEPT) break;
      place.counts.delete(key);
    }
  };

  /** @param partitions null: all */
  return async (
    partitions: readonly string[] | null,
    clauses: readonly WordClause[],
    signal?: AbortSignal,
  ): Promise<TermStatistics> => {
    const sorted = partitions === null ? null : [...new Set(partitions)].sort();
    const name = JSON.stringify(sorted);
    const kept = places.get(name);
    const missing = clauses.filter((clause) => kept?.counts.has(keyOf(clause)) !== true);
    let found = await ask(sorted, missing, signal);
    const known = new Map(kept?.counts);
    if (kept?.fingerprint === found.fingerprint) {
      for (const [key, count] of found.counts) known.set(key, count);
      found = { ...found, counts: known };
    } else if (missing.length < clauses.length) found = await ask(sorted, clauses, signal);
    const { chunks, counts } = found;
    keep(name, { ...found, counts: new Map(counts) });
    return { chunks, holding: (clause) => counts.get(keyOf(clause)) ?? 0 };
  };
};
