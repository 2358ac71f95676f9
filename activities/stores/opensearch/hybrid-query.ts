import { inverseDocumentFrequency } from '../../text/bm25.js';
import type { ChunkStore } from '../../ports/chunks.js';
import { unitVector } from '../../models/vector-arithmetic.js';
import type { AskedClause, QuestionWords } from './question-words.js';
import { filterClauses, seesNothing, visiblePartitions } from './searched-chunks.js';
import type { WordsRequest } from './searched-chunks.js';
import { clauseQuery } from './term-weights.js';
import type { TermStatistics } from './term-weights.js';

type HybridRequest = Omit<Parameters<ChunkStore['searchHybrid']>[0], 'lexical'>;

function seenBy(request: WordsRequest): object[] {
  return filterClauses(visiblePartitions(request.scope, request.partitions), request);
}

/** A clause for each that may hold of a text. */
function weighed(clauses: readonly AskedClause[], statistics: TermStatistics): object[] {
  return clauses.flatMap((clause) => {
    const holding = statistics.holding(clause.counted);
    // A word that no text holds may stand in a heading or a name.
    if (holding === 0 && (isInText(clause) || clause.field === clause.counted.field)) return [];
    return [clauseQuery(clause, clause.weight * inverseDocumentFrequency(holding, statistics.chunks))];
  });
}

/** Null: no word of the question stands anywhere. */
export function lexicalQuery(
  request: WordsRequest,
  words: QuestionWords,
  statistics: TermStatistics,
): object | null {
  const should = weighed(words.words, statistics);
  if (should.length === 0) return null;
  return {
    bool: {
      must: [{ bool: { should, minimum_should_match: 1 } }],
      should: weighed(words.identifiers, statistics),
      filter: seenBy(request),
    },
  };
}

/**
 * Which of these chunks hold words of the question side by side, and what that adds to their scores. Null: none can.
 */
export function pairQuery(
  words: QuestionWords,
  statistics: TermStatistics,
  chunkIds: readonly string[],
): object | null {
  const should = words.pairs.flatMap(({ of, ...pair }) => {
    const rarer = Math.min(...of.map((word) => statistics.holding(word)));
    return rarer === 0
      ? []
      : [clauseQuery(pair, pair.weight * inverseDocumentFrequency(rarer, statistics.chunks))];
  });
  if (should.length === 0 || chunkIds.length === 0) return null;
  return { bool: { should, minimum_should_match: 1, filter: [{ ids: { values: chunkIds } }] } };
}

function isInText({ field }: AskedClause): boolean {
  return field === 'text' || field.startsWith('text.');
}

/**
 * Compares every vector within the filter. The graph of the field is shared by all tenants, so which of the nearest a
 * walk through it misses would depend on others. The cosine of vectors of unknown length takes twice the time of a
 * product. Null: there is nothing to compare.
 * @param options.unit whether all vectors of the field have length 1
 */
export function denseQuery(
  { vector, vectorField, ...request }: HybridRequest,
  { unit }: { unit: boolean },
): object | null {
  // A zero vector has no direction: cosine is undefined and the engine refuses it.
  if (seesNothing(request) || vector.every((value) => value === 0)) return null;
  return {
    script_score: {
      query: { bool: { filter: [...seenBy(request), { exists: { field: vectorField } }] } },
      script: {
        lang: 'knn',
        source: 'knn_score',
        params: {
          field: vectorField,
          query_value: unit ? unitVector(vector) : vector,
          space_type: unit ? 'innerproduct' : 'cosinesimil',
        },
      },
    },
  };
}

/** Lucene shifts cosine to (1 + cos) / 2 since its scores may not be negative. */
export function cosineOf(score: number): number {
  return Math.max(-1, Math.min(1, 2 * score - 1));
}

/** The engine's scores of products may not be negative either: 1 + p from 0 on, 1 / (1 - p) below. */
export function cosineOfProduct(score: number): number {
  return Math.max(-1, Math.min(1, score >= 1 ? score - 1 : 1 - 1 / score));
}
