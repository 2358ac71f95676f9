import type { PartitionRecord } from '../../../schemas/documents/partitions.js';
import type { Scope } from '../../../schemas/documents/users.js';
import type { FilterExpression } from '../../ports/filter.js';
import type { FileRecord, FileVersion } from '../../../schemas/documents/documents.js';
import type { ChunkHead, FoundChunk } from '../../ports/chunks.js';
import type { RetrievalTrace } from './retrieval-trace.js';

export interface SearchRequest {
  scope: Scope;
  /** `all`: every partition of the scope. Names outside the scope are dropped; the route has answered 403. */
  partitions: readonly string[] | 'all';
  /** Instead of the partitions' own: one whose vectors stand beside theirs, as in a swap. */
  embedder?: string;
  fileKey?: string;
  text: string;
  topK: number;
  /**
   * Raw cosine that a hit of the dense leg must reach; the lexical leg knows no threshold. Each embedder's own by
   * default, and the service's setting where it has none.
   */
  similarityThreshold?: number;
  /** Hits asked of each leg; the service's setting by default. */
  candidates?: number;
  /** Share of the dense leg in the fused score, 0 to 1; by what the embedders understand by default. */
  vectorWeight?: number;
  /** Holds of every result, those that expansion adds included. */
  filter?: FilterExpression;
  /**
   * Id of a workspace in one of the searched partitions; only its files are answered.
   * WORKSPACE_NOT_FOUND, plain, when there is none; WORKSPACE_AMBIGUOUS when two of them have one.
   */
  workspace?: string;
  related?: RelatedRequest;
  rerank?: RerankRequest;
  /** What a preset of the searched partitions sets of the above; what the request itself names goes before it. */
  settings?: (
    searched: readonly PartitionRecord[],
  ) => Promise<Pick<SearchRequest, 'candidates' | 'vectorWeight' | 'rerank'>>;
  /** Asks `searchInFull` to tell how it came to its results. */
  trace?: boolean;
  signal?: AbortSignal;
}

/** Chunks to be added behind the results: from files of the same group, or from those above in the chain of parents. */
export interface RelatedRequest {
  includeRelated: boolean;
  includeAncestors: boolean;
  /** Chunks added at most for a group, and for a chain. */
  relatedLimit: number;
  /** Steps up a chain; as many as there are by default. */
  maxAncestorDepth?: number;
}

export interface RerankRequest {
  enabled: boolean;
  /** Name of the endpoint; the default one when absent. Without a default nothing is reranked. */
  reranker?: string;
  /** Results kept after reranking, never more than `topK`. */
  topN?: number;
}

export interface SearchResult extends Omit<RankedHit, 'chunk'> {
  chunk: FoundChunk;
  /** What the reranker gave it, when one ran. */
  rerankScore?: number;
  /** Added by expansion and not found by the text; its score is 0. */
  addedAs?: 'related' | 'ancestor';
}

/** A place in the fused ranking, before its text is read. */
export interface RankedHit {
  chunk: ChunkHead;
  file: FileRecord;
  /** The live version that the chunk belongs to. */
  version: FileVersion;
  /** Fused, 0 to 1; comparable within one search only. */
  score: number;
  /** Cosine, or null when the dense leg did not find it. */
  vectorScore: number | null;
  /** BM25, or null when the lexical leg did not find it. */
  lexicalScore: number | null;
}

export interface SearchOutcome {
  results: SearchResult[];
  /** Code of the error for which reranking was left out (RERANKER_ON_ERROR=skip). */
  rerankSkipped?: string;
  /** When asked for. */
  trace?: RetrievalTrace;
}

export interface SearchService {
  search(request: SearchRequest): Promise<SearchResult[]>;
  /** The same, with what else there is to say of it. */
  searchInFull(request: SearchRequest): Promise<SearchOutcome>;
}
