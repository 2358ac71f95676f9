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
  /** Of a phrase: how many words may stand between its own. */
  slop?: number;
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

function keyOf({ field, word, type, slop = 0 }: WordClause): string {
  return `${type}\n${slop}\n${field}\n${word}`;
}

export function clauseQuery({ field, word, type, slop }: WordClause, boost?: number): object {
  return {
    [type]: {
      [field]: { query: word, ...(slop !== undefined && { slop }), ...(boost !== undefined && { boost }) },
    },
  };
}

/**
 * Counts published chunks in which words stand, in the searched partitions alone and without what is deleted: the
 * engine's own counts are of the whole index, shared by all tenants, and of deleted chunks until they are merged away.
 * One search counts what is not known yet, so that its counts are of one moment; what is known is kept as long as the
 * partitions hold the same versions. The engine answers a repeated question from its cache until the next refresh.
 */
export function createTermCounter(client: OpenSearchClient, index: string) {
  const places = new Map<string, Place>();

  const query = (partitions: readonly string[] | null, clauses: readonly WordClause[]): object => ({
    size: 0,
    track_total_hits: true,
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
            filters: Object.fromEntries(clauses.map((clause, place) => [String(place), clauseQuery(clause)])),
          },
        },
      }),
    },
  });

  const read = (answer: CountAnswer, clauses: readonly WordClause[]): Place => {
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

  const ask = async (
    partitions: readonly string[] | null,
    clauses: readonly WordClause[],
    signal: AbortSignal | undefined,
  ): Promise<Place> =>
    read(
      await client.request<CountAnswer>('POST', `/${index}/_search`, {
        query: { request_cache: true },
        body: query(partitions, clauses),
        signal,
        refused: 'VDB_SEARCH_ERROR',
      }),
      clauses,
    );

  const keep = (name: string, place: Place): void => {
    places.delete(name);
    places.set(name, place);
    if (places.size > MAX_PLACES) places.delete(places.keys().next().value!);
    for (const key of place.counts.keys()) {
      if (place.counts.size <= MAX_CLAUSES_KEPT) break;
      place.counts.delete(key);
    }
  };

  const statisticsOf = ({ chunks, counts }: Place): TermStatistics => ({
    chunks,
    holding: (clause) => counts.get(keyOf(clause)) ?? 0,
  });

  return {
    /**
     * What is known already, if all of it is, and the search that tells whether it still holds; null otherwise.
     * @param partitions null: all
     */
    known(partitions: readonly string[] | null, clauses: readonly WordClause[]) {
      const sorted = sortedPartitions(partitions);
      const kept = places.get(JSON.stringify(sorted));
      if (kept === undefined || !clauses.every((clause) => kept.counts.has(keyOf(clause)))) return null;
      return {
        statistics: statisticsOf(kept),
        check: query(sorted, []),
        holds: (answer: unknown) => read(answer as CountAnswer, []).fingerprint === kept.fingerprint,
      };
    },

    async count(
      partitions: readonly string[] | null,
      clauses: readonly WordClause[],
      signal?: AbortSignal,
    ): Promise<TermStatistics> {
      const sorted = sortedPartitions(partitions);
      const name = JSON.stringify(sorted);
      const kept = places.get(name);
      const missing = clauses.filter((clause) => kept?.counts.has(keyOf(clause)) !== true);
      let found = await ask(sorted, missing, signal);
      if (kept?.fingerprint === found.fingerprint)
        found = { ...found, counts: new Map([...kept.counts, ...found.counts]) };
      else if (missing.length < clauses.length) found = await ask(sorted, clauses, signal);
      keep(name, { ...found, counts: new Map(found.counts) });
      return statisticsOf(found);
    },
  };
}

function sortedPartitions(partitions: readonly string[] | null): string[] | null {
  return partitions === null ? null : [...new Set(partitions)].sort();
}
