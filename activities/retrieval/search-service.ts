import { inScope } from '../../schemas/documents.js';
import type { FileRecord, FileVersion, Scope, StoredChunk } from '../../schemas/documents.js';
import type { ChunkStore, Embedder, FileStore, ModelRegistry, PartitionStore } from '../ports.js';
import { agreement, convexCombination, scaleScores } from './fusion.js';
import type { FilterExpression } from './filter/expression.js';
import { checkGenerations } from './generation-check.js';
import type { CheckedHit } from './generation-check.js';
import type { RetrievalTrace } from './retrieval-trace.js';

export interface SearchRequest {
  scope: Scope;
  /** `all`: every partition of the scope. Names outside the scope are dropped; the route has answered 403. */
  partitions: readonly string[] | 'all';
  fileKey?: string;
  text: string;
  topK: number;
  /** Raw cosine that a hit of the dense leg must reach; the lexical leg knows no threshold. */
  similarityThreshold?: number;
  /** Hits asked of each leg; the service's setting by default. */
  candidates?: number;
  /** Holds of every result, those that expansion adds included. */
  filter?: FilterExpression;
  /**
   * Id of a workspace in one of the searched partitions; only its files are answered.
   * WORKSPACE_NOT_FOUND, plain, when there is none; WORKSPACE_AMBIGUOUS when two of them have one.
   */
  workspace?: string;
  related?: RelatedRequest;
  rerank?: RerankRequest;
  /** Asks `searchInFull` to tell how it came to its results. */
  trace?: boolean;
  signal?: AbortSignal;
}

/** Pieces to be added behind the results: from files of the same group, or from those above in the chain of parents. */
export interface RelatedRequest {
  includeRelated: boolean;
  includeAncestors: boolean;
  /** Pieces added at most for a group, and for a chain. */
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

export interface SearchResult {
  chunk: StoredChunk;
  file: FileRecord;
  /** The live version that the chunk belongs to. */
  version: FileVersion;
  /** Fused, 0 to 1; comparable within one search only. */
  score: number;
  /** Cosine, or null when the dense leg did not find it. */
  vectorScore: number | null;
  /** BM25, or null when the lexical leg did not find it. */
  lexicalScore: number | null;
  /** What the reranker gave it, when one ran. */
  rerankScore?: number;
  /** Added by expansion and not found by the text; its score is 0. */
  addedAs?: 'related' | 'ancestor';
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

interface SearchDependencies {
  chunks: Pick<ChunkStore, 'searchHybrid'>;
  files: Pick<FileStore, 'getMany'>;
  partitions: Pick<PartitionStore, 'list'>;
  models: Pick<ModelRegistry, 'embedder'>;
  settings: { candidates: number; similarityThreshold: number };
}

/**
 * When checks drop hits, ask again without their generations, so often. Asking for more hits instead would not do:
 * a large version that is marked as published, and becomes live in a moment, has hits without end before any other.
 */
const MAX_ROUNDS = 4;
const MAX_SIZE = 2000;

/**
 * Share of the dense leg in the fused score, where both legs agree. The built-in embedder is lexical like BM25 and
 * weaker, so it helps as a minor voice. From this agreement on the share is whole; below, it falls with it, to a
 * quarter: an embedder that does not know the language of a question would drown what the words found.
 *
 * Measured with 50 candidates a leg (`npm run bench:retrieval`; nDCG@10 of all-MiniLM, an English model, on Cranfield /
 * PIAF, which is French): a fixed share of 0.6 0.441 / 0.684, falling with the agreement 0.441 / 0.785, BM25 alone
 * 0.395 / 0.810; min-max normalised halves 0.433 / 0.737.
 */
const denseWeight = ({ embedder, lexical, dense }: GroupHits): number =>
  (embedder.modelName.startsWith('builtin/') ? 0.2 : 0.6) *
  Math.max(LEAST_TRUST, Math.min(1, agreement(legOf(lexical), legOf(dense)) / FULL_AGREEMENT));
const FULL_AGREEMENT = 0.6;
const LEAST_TRUST = 0.25;

interface GroupHits {
  embedder: Embedder;
  lexical: CheckedHit[];
  dense: CheckedHit[];
}

const legOf = (hits: readonly CheckedHit[]) =>
  hits.map(({ chunk, score }) => ({ id: chunk.chunk_id, score }));

const idsIn = (legs: { lexical: readonly CheckedHit[]; dense: readonly CheckedHit[] }): number =>
  new Set([...legs.lexical, ...legs.dense].map(({ chunk }) => chunk.chunk_id)).size;

/**
 * BM25 scores come from one index and compare as they are; cosines of two embedders do not, so each dense leg is
 * normalised by itself. The least weight counts when embedders differ.
 */
const fuse = (groups: readonly GroupHits[], topK: number): SearchResult[] => {
  const lexical = new Map<string, CheckedHit>();
  const dense = new Map<string, CheckedHit>();
  for (const group of groups) {
    for (const hit of group.lexical) lexical.set(hit.chunk.chunk_id, hit);
    for (const hit of group.dense) if (!dense.has(hit.chunk.chunk_id)) dense.set(hit.chunk.chunk_id, hit);
  }
  const denseLeg = new Map(
    groups.flatMap((group) => scaleScores(legOf(group.dense)).map((hit) => [hit.id, hit] as const)),
  );
  const weight = Math.min(...groups.map(denseWeight));
  return convexCombination(legOf([...lexical.values()]), [...denseLeg.values()], {
    weight,
    normalize: scaleScores,
  })
    .slice(0, topK)
    .flatMap(({ id, score }) => {
      const hit = lexical.get(id) ?? dense.get(id);
      if (hit === undefined) return [];
      const scores = {
        vectorScore: dense.get(id)?.score ?? null,
        lexicalScore: lexical.get(id)?.score ?? null,
      };
      return [{ chunk: hit.chunk, file: hit.file, version: hit.version, score, ...scores }];
    });
};

/**
 * Hybrid search over the partitions of a scope. Each distinct embedder embeds the text once and answers for its
 * partitions; every hit is then compared with its file record (see `checkGenerations`), so that nothing of an
 * unpublished, replaced, deleted or foreign version is answered. What the checks drop is filled up again.
 *
 * @throws AppError of the stores and models, as their ports say
 */
export const createSearchService = (dependencies: SearchDependencies): SearchService => {
  const { chunks, files, partitions, models, settings } = dependencies;

  const searchGroup = async (
    embedderName: string,
    names: readonly string[],
    request: SearchRequest,
  ): Promise<GroupHits> => {
    const { scope, fileKey, text, topK, signal } = request;
    const threshold = request.similarityThreshold ?? settings.similarityThreshold;
    const embedder = await models.embedder(embedderName);
    const [vector = []] = await embedder.embed([text], { kind: 'query', ...(signal && { signal }) });
    const limits = { scope, partitions: new Set(names), fileKey };
    const size = Math.min(Math.max(request.candidates ?? settings.candidates, topK), MAX_SIZE);
    const without = new Set<number>();
    for (let round = 1; ; round++) {
      const answer = await chunks.searchHybrid({
        ...{ scope, partitions: names, text, vector, vectorField: embedder.vectorField, size },
        ...(fileKey !== undefined && { fileKey }),
        ...(without.size > 0 && { withoutGenerations: [...without] }),
        ...(signal && { signal }),
      });
      const { legs, dead, hidden } = await checkGenerations(
        { lexical: answer.lexical, dense: answer.dense.filter(({ score }) => score >= threshold) },
        files,
        limits,
      );
      const fullPage = answer.lexical.length >= size || answer.dense.length >= size;
      // Hidden: also when there is no more to find. A version replaced between the engine's answer and the record is
      // found under its new generation now.
      const again = dead.size > 0 && (hidden.size > 0 || (fullPage && idsIn(legs) < topK));
      if (!again || round === MAX_ROUNDS) return { embedder, ...legs };
      for (const generation of dead) without.add(generation);
      // Dead a round ago, and live since.
      for (const generation of hidden) without.delete(generation);
    }
  };

  const run = async (request: SearchRequest): Promise<SearchOutcome> => {
    const answer = async (): Promise<SearchResult[]> => {
      const wanted = request.partitions === 'all' ? null : new Set(request.partitions);
      const groups = new Map<string, string[]>();
      for (const { partition, embedder } of await partitions.list(request.scope)) {
        if (!inScope(request.scope, partition) || wanted?.has(partition) === false) continue;
        groups.set(embedder, [...(groups.get(embedder) ?? []), partition]);
      }
      if (groups.size === 0) return [];
      const hits = await Promise.all([...groups].map(([name, names]) => searchGroup(name, names, request)));
      return fuse(hits, request.topK);
    };
    return { results: await answer() };
  };

  return { search: async (request) => (await run(request)).results, searchInFull: run };
};
