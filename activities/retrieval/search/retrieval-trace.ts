/** Of the keys of a trace: readers refuse one that they do not know. */
export const TRACE_VERSION = 1;

/** How a search came to its results, for administrators; keys as the API writes them. */
export interface RetrievalTrace {
  schema_version: typeof TRACE_VERSION;
  /** One for each distinct embedder among the searched partitions. */
  groups: GroupTrace[];
  fusion: {
    /** Share of the dense leg in the fused score. */
    weight: number;
    ranking: { id: string; score: number }[];
  };
  /** The words of the best hits, what each hit scored by them, and the ranking with them; null: not looked for. */
  words: {
    words: { word: string; weight: number }[];
    scores: { id: string; score: number }[];
    ranking: { id: string; score: number }[];
  } | null;
  rerank: RerankTrace | null;
  /** Ids that expansion added. */
  expansion: { related: string[]; ancestors: string[] } | null;
  /** Milliseconds of each step. */
  times: Record<string, number>;
}

export interface GroupTrace {
  embedder: string;
  model: string;
  partitions: string[];
  /** Rounds asked of the engine: more than one when hits were dropped and others fetched in their place. */
  rounds: number;
  similarity_threshold: number;
  lexical: LegTrace;
  dense: LegTrace;
  /** The hit towards which the question was moved, and what each candidate scored by that; null: it was not. */
  feedback: { from: string; scores: { id: string; score: number }[] } | null;
}

export interface LegTrace {
  hits: { id: string; raw_score: number; normalised_score: number }[];
  dropped: { id: string; raw_score: number; reason: DropReason }[];
}

/** Why a hit of the engine is not answered. `generation`: unpublished, replaced or deleted. */
export type DropReason = 'threshold' | 'generation' | 'scope' | 'file' | 'workspace' | 'filter' | 'duplicate';

export interface RerankTrace {
  endpoint: string;
  model: string;
  ranking: { id: string; score: number }[];
  /** Code of the error for which it was left out. */
  skipped?: string;
}
