import type { OpenSearchClient } from './connect-opensearch.js';
import { readError } from './opensearch-errors.js';
import { routingOf } from './routing.js';

/**
 * Counted clauses that a process keeps, of all sets of partitions together: 15 MiB. The 725 questions of Cranfield and
 * PIAF have 6,548.
 */
const MAX_CLAUSES_KEPT = 200_000;
/** Sets of partitions, which are kept without clauses as well. */
const MAX_PLACES = 10_000;

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
        query: { request_cache: true, ...routingOf(partitions) },
        body: query(partitions, clauses),
        signal,
        refused: 'VDB_SEARCH_ERROR',
      }),
      clauses,
    );

  let clausesKept = 0;
  const forget = (name: string): void => {
    clausesKept -= places.get(name)?.counts.size ?? 0;
    places.delete(name);
  };
  /** Those that were asked for last stay longest. */
  const keep = (name: string, place: Place, added: ReadonlyMap<string, number> = new Map()): void => {
    forget(name);
    for (const [key, holding] of added) place.counts.set(key, holding);
    places.set(name, place);
    clausesKept += place.counts.size;
    while (places.size > 1 && (clausesKept > MAX_CLAUSES_KEPT || places.size > MAX_PLACES))
      forget(places.keys().next().value!);
    for (const key of place.counts.keys()) {
      if (clausesKept <= MAX_CLAUSES_KEPT) break;
      place.counts.delete(key);
      clausesKept -= 1;
    }
  };

  return {
    /**
     * What is known already, if all of it is, and the search that tells whether it still holds; null otherwise.
     * @param partitions null: all
     */
    known(partitions: readonly string[] | null, clauses: readonly WordClause[]) {
      const sorted = sortedPartitions(partitions);
      const name = JSON.stringify(sorted);
      const place = places.get(name);
      if (place === undefined || !clauses.every((clause) => place.counts.has(keyOf(clause)))) return null;
      keep(name, place);
      return {
        statistics: statisticsOf(place, clauses),
        check: query(sorted, []),
        holds: (answer: unknown) => read(answer as CountAnswer, []).fingerprint === place.fingerprint,
      };
    },

    async count(
      partitions: readonly string[] | null,
      clauses: readonly WordClause[],
      signal?: AbortSignal,
    ): Promise<TermStatistics> {
      const sorted = sortedPartitions(partitions);
      const name = JSON.stringify(sorted);
      const place = places.get(name);
      const missing = clauses.filter((clause) => place?.counts.has(keyOf(clause)) !== true);
      let found = await ask(sorted, missing, signal);
      if (place?.fingerprint === found.fingerprint) {
        keep(name, place, found.counts);
        // Another question may have pushed out what was known when this one began.
        if (clauses.every((clause) => place.counts.has(keyOf(clause)))) return statisticsOf(place, clauses);
      }
      if (missing.length < clauses.length) found = await ask(sorted, clauses, signal);
      keep(name, found);
      return statisticsOf(found, clauses);
    },
  };
}

/** Of these clauses alone: what is kept may change meanwhile. */
function statisticsOf({ chunks, counts }: Place, clauses: readonly WordClause[]): TermStatistics {
  const holding = new Map(clauses.map(keyOf).map((key) => [key, counts.get(key) ?? 0]));
  return { chunks, holding: (clause) => holding.get(keyOf(clause)) ?? 0 };
}

function sortedPartitions(partitions: readonly string[] | null): string[] | null {
  return partitions === null ? null : [...new Set(partitions)].sort();
}
