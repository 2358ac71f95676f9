import type { RetrievalTrace, TRACE_VERSION } from '../search/retrieval-trace.js';
import type { SearchResult } from '../search/search-types.js';
import type { TimeSpan } from './parse-rewriting.js';

/** How a chat came to its sources, for administrators; keys as the API writes them. */
export interface ChatTrace {
  schema_version: typeof TRACE_VERSION;
  question: string;
  rewriting: RewritingTrace;
  queries: QueryTrace[];
  /** Ids in the order after fusion. */
  fused: string[];
  /** What the question alone would have found, when it was asked to compare. */
  original_query?: string[];
  presented: string[];
  /** Milliseconds of each step. */
  times: Record<string, number>;
}

export interface RewritingTrace {
  /** `built-in`: the model cannot; `resting`: it failed lately; `casual`: no retrieval was needed. */
  status: 'used' | 'failed' | 'off' | 'bypassed' | 'built-in' | 'resting' | 'casual';
  intent?: string;
  requires_retrieval?: boolean;
}

export type QueryKind = 'question' | 'rewritten' | 'variant' | 'passage';

export interface QueryTrace {
  kind: QueryKind;
  text: string;
  created_after?: string;
  created_before?: string;
  /** The time span found nothing and was dropped. */
  without_time_span?: true;
  results: { id: string; score: number; rerank_score?: number }[];
  search?: RetrievalTrace;
}

export function idsOf(results: readonly SearchResult[]): string[] {
  return results.map(({ chunk }) => chunk.chunk_id);
}

export function traceQuery(
  query: { kind: QueryKind; text: string; span?: TimeSpan | undefined },
  outcome: { results: readonly SearchResult[]; trace?: RetrievalTrace | undefined },
  withoutSpan = false,
): QueryTrace {
  return {
    kind: query.kind,
    text: query.text,
    ...(query.span?.from !== undefined && { created_after: query.span.from.toISOString() }),
    ...(query.span?.until !== undefined && { created_before: query.span.until.toISOString() }),
    ...(withoutSpan && { without_time_span: true as const }),
    results: outcome.results.map(({ chunk, score, rerankScore }) => ({
      id: chunk.chunk_id,
      score,
      ...(rerankScore !== undefined && { rerank_score: rerankScore }),
    })),
    ...(outcome.trace !== undefined && { search: outcome.trace }),
  };
}
