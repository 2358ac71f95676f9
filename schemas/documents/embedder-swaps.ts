/** The records of swaps: moves of a partition that holds files to another embedder. */
export const SWAP_STATUSES = ['running', 'completed', 'failed', 'cancelled'] as const;
export type SwapStatus = (typeof SWAP_STATUSES)[number];

/**
 * What a sample of the partition's own texts, taken as questions, says of both embedders. Between 0 and 1, the means
 * over the sample.
 */
export interface SwapFigures {
  sampled: number;
  /** Share of the old one's ten nearest chunks that are among the new one's ten. */
  overlap: number;
  /** Reciprocal rank of the chunk that the question was taken from, 0 beyond the tenth. */
  known_item_before: number;
  known_item_after: number;
  /** nDCG@10 of search over the question set with each of both; null: none is named. Not of an earlier release. */
  questions?: { count: number; ndcg_before: number; ndcg_after: number } | null;
}

export interface EmbedderSwapRecord {
  swap_id: string;
  partition: string;
  partition_key: string;
  source_embedder: string;
  target_embedder: string;
  status: SwapStatus;
  /** What is being done, in plain words. */
  phase: string;
  /** Null until they are counted. */
  files_total: number | null;
  /** Never goes down. */
  files_done: number;
  /** Chunks that are longer than the new embedder takes; each is embedded in parts. */
  chunks_over_window: number;
  /** What the figures must reach before the switch; null: anything. */
  min_overlap: number | null;
  min_known_item: number | null;
  /** Name of a question set of the partition, asked before the switch; left out by an earlier release. */
  question_set?: string | null;
  min_ndcg?: number | null;
  figures: SwapFigures | null;
  /** Why it failed, for people. */
  error: string | null;
  /** The same for programs, of the table of errors; left out by an earlier release. */
  error_code?: string | null;
  /** The id of the user. */
  started_by: string;
  started_at: Date;
  updated_at: Date;
  finished_at: Date | null;
}

/** What its start decides of a swap. */
export type SwapStart = Pick<
  EmbedderSwapRecord,
  | 'swap_id'
  | 'partition'
  | 'partition_key'
  | 'source_embedder'
  | 'target_embedder'
  | 'min_overlap'
  | 'min_known_item'
  | 'question_set'
  | 'min_ndcg'
  | 'started_by'
>;

/** What must hold before the switch. */
export type SwapGates = Pick<SwapStart, 'min_overlap' | 'min_known_item' | 'question_set' | 'min_ndcg'>;
