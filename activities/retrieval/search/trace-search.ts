import { legOf } from './fuse-groups.js';
import { scaleScores } from './fusion.js';
import type { CheckedHit, DroppedHit } from './generation-check.js';
import { TRACE_VERSION } from './retrieval-trace.js';
import type { LegTrace, RerankTrace, RetrievalTrace } from './retrieval-trace.js';
import type { GroupHits } from './search-legs.js';
import type { RankedHit, SearchResult } from './search-types.js';
import type { WordFeedback } from './word-feedback.js';

function legTrace(hits: readonly CheckedHit[], dropped: readonly DroppedHit[]): LegTrace {
  const normalised = scaleScores(legOf(hits));
  return {
    hits: hits.map(({ chunk, score }, index) => ({
      id: chunk.chunk_id,
      raw_score: score,
      normalised_score: normalised[index]?.score ?? 0,
    })),
    dropped: dropped.map(({ id, score, reason }) => ({ id, raw_score: score, reason })),
  };
}

function idsAddedAs(added: readonly SearchResult[], as: SearchResult['addedAs']): string[] {
  return added.filter(({ addedAs }) => addedAs === as).map(({ chunk }) => chunk.chunk_id);
}

/** Records the steps of one search. Kept as references, so a trace that is not requested costs little. */
export function traceSearch() {
  let groups: readonly GroupHits[] = [];
  let fused: { weight: number; results: readonly RankedHit[] } = { weight: 0, results: [] };
  let words: WordFeedback | null = null;
  let rerank: RerankTrace | null = null;
  let additions: readonly SearchResult[] | null = null;
  const times: Record<string, number> = {};
  return {
    /** Runs a step and notes how long it took. */
    async timed<T>(step: string, work: () => Promise<T>): Promise<T> {
      const start = performance.now();
      try {
        return await work();
      } finally {
        times[step] = Math.round((performance.now() - start) * 1000) / 1000;
      }
    },
    retrieved(hits: readonly GroupHits[], fusion: typeof fused, byWords: WordFeedback | null): void {
      groups = hits;
      fused = fusion;
      words = byWords;
    },
    reranked: (noted: RerankTrace | null): void => void (rerank = noted),
    expanded: (added: readonly SearchResult[]): void => void (additions = added),
    written: (): RetrievalTrace => ({
      schema_version: TRACE_VERSION,
      groups: groups.map(
        ({ embedder, partitions, rounds, similarityThreshold, dropped, feedback, ...legs }) => ({
          embedder: embedder.endpointName,
          model: embedder.modelName,
          partitions: [...partitions],
          rounds,
          similarity_threshold: similarityThreshold,
          lexical: legTrace(legs.lexical, dropped.lexical),
          dense: legTrace(legs.dense, dropped.dense),
          feedback: feedback ?? null,
        }),
      ),
      fusion: {
        weight: fused.weight,
        ranking: fused.results.map(({ chunk, score }) => ({ id: chunk.chunk_id, score })),
      },
      words,
      rerank,
      expansion:
        additions === null
          ? null
          : { related: idsAddedAs(additions, 'related'), ancestors: idsAddedAs(additions, 'ancestor') },
      times,
    }),
  };
}
