import type { PartitionRecord } from '../../../schemas/documents/partitions.js';
import { inScope } from '../../../schemas/documents/users.js';
import type { ChunkStore, FoundChunk } from '../../ports/chunks.js';
import type { FileStore } from '../../ports/files.js';
import type { Meter } from '../../ports/meter.js';
import type { ModelRegistry } from '../../ports/models.js';
import type { PartitionStore, WorkspaceStore } from '../../ports/partitions.js';
import { createCompetences } from './competence.js';
import type { CompetenceLog } from './competence.js';
import { expandResults } from './expand-results.js';
import { findWorkspace } from './find-workspace.js';
import { fuseGroups } from './fuse-groups.js';
import type { FusedHit } from './fusion.js';
import type { CheckLimits } from './generation-check.js';
import { readResults } from './read-results.js';
import { rerankResults } from './rerank-results.js';
import { searchLegs } from './search-legs.js';
import type { GroupHits } from './search-legs.js';
import { traceSearch } from './trace-search.js';
import { addFeedback, takesFeedback, VECTORS_AT_HAND } from './vector-feedback.js';
import { TEXTS_READ, wordFeedback } from './word-feedback.js';
import type { WordFeedback } from './word-feedback.js';
import type { RankedHit, SearchOutcome, SearchRequest, SearchResult, SearchService } from './search-types.js';

interface SearchDependencies {
  chunks: Pick<
    ChunkStore,
    'searchWords' | 'searchHybrid' | 'getMany' | 'getVectors' | 'similarities' | 'listByFile'
  >;
  files: Pick<FileStore, 'get' | 'getMany' | 'listRelated' | 'listWorkspaceKeys'>;
  partitions: Pick<PartitionStore, 'list'>;
  workspaces: Pick<WorkspaceStore, 'find'>;
  models: Pick<ModelRegistry, 'embedder' | 'reranker'>;
  meter?: Pick<Meter, 'orphansDropped'>;
  log?: CompetenceLog;
  settings: {
    candidates: number;
    similarityThreshold: number;
    rerankOnError: 'fail' | 'skip';
    feedback: boolean;
  };
}

/** Hits asked of a leg at most. */
const MAX_SIZE = 2000;

/** Searches until all that was found could be read; then what there is, is answered. */
const MAX_ROUNDS = 3;

/**
 * What feedback moves up is mostly among as many more as are wanted: reading these along costs less than a request that
 * reads what is left.
 */
const SPARE_READS = 10;

function rankingOf(hits: readonly RankedHit[]): FusedHit[] {
  return hits.map(({ chunk, score }) => ({ id: chunk.chunk_id, score }));
}

function textsOf(chunks: ReadonlyMap<string, FoundChunk>): Map<string, string> {
  return new Map([...chunks].map(([id, { text }]) => [id, text]));
}

/** The hits in the order of a ranking of all of them, and scored by it. */
function inOrder(hits: readonly RankedHit[], { ranking }: WordFeedback): RankedHit[] {
  const byId = new Map(hits.map((hit) => [hit.chunk.chunk_id, hit]));
  return ranking.map(({ id, score }) => ({ ...byId.get(id)!, score }));
}

/** Where a search looks. */
interface Place {
  /** Partitions of each embedder. */
  groups: ReadonlyMap<string, readonly string[]>;
  workspaceKey?: string;
  /** Files of the workspace. */
  fileKeys?: readonly string[];
}

/**
 * Hybrid search over the partitions of a scope. Each distinct embedder embeds the text once and answers for its
 * partitions; every hit is then compared with its file record (see `checkGenerations`), so that nothing of an
 * unpublished, replaced, deleted or foreign version is answered. What the checks drop is filled up again. Then the legs
 * are fused, scored again by what the best hits say (see `addFeedback`, `wordFeedback`), and as far as it is asked for,
 * reranked and expanded by relations.
 *
 * @throws AppError of the stores and models, as their ports say; WORKSPACE_NOT_FOUND, WORKSPACE_AMBIGUOUS
 */
export function createSearchService(dependencies: SearchDependencies): SearchService {
  const { chunks, files, partitions, workspaces, models, settings, log } = dependencies;
  const competences = createCompetences({ ...(log && { log }) });

  const listSearched = async ({ scope, partitions: asked }: SearchRequest): Promise<PartitionRecord[]> => {
    const names = asked === 'all' ? undefined : asked;
    const wanted = names && new Set(names);
    // Asked for again: whatever is answered lies within the scope.
    return (await partitions.list(scope, names)).filter(
      ({ partition }) => inScope(scope, partition) && wanted?.has(partition) !== false,
    );
  };

  const findPlace = async (request: SearchRequest, searched: readonly PartitionRecord[]): Promise<Place> => {
    const workspace =
      request.workspace === undefined
        ? null
        : await findWorkspace(
            workspaces,
            searched.map(({ partition }) => partition),
            request.workspace,
          );
    const groups = new Map<string, string[]>();
    for (const { partition, embedder: own } of searched)
      if (workspace === null || workspace.partition === partition) {
        const embedder = request.embedder ?? own;
        groups.set(embedder, [...(groups.get(embedder) ?? []), partition]);
      }
    if (workspace === null) return { groups };
    const { workspace_key: workspaceKey } = workspace;
    return { groups, workspaceKey, fileKeys: await files.listWorkspaceKeys(workspaceKey) };
  };

  const hasFeedback = ({ vectorWeight }: SearchRequest): boolean => settings.feedback && vectorWeight !== 0;

  /** Neither leg is asked for by itself. */
  const hasWordFeedback = (request: SearchRequest): boolean =>
    hasFeedback(request) && request.vectorWeight !== 1;

  const run = async (given: SearchRequest): Promise<SearchOutcome> => {
    // as the texts are (`run-parse-job.ts`): the index does not find the one form by the other
    const asked = { ...given, text: given.text.normalize('NFC') };
    const { scope, fileKey, filter, text, topK, signal } = asked;
    const trace = traceSearch();
    const searched = await listSearched(asked);
    const [{ groups, workspaceKey, fileKeys }, defaults] = await Promise.all([
      findPlace(asked, searched),
      asked.settings?.(searched),
    ]);
    const request: SearchRequest = { ...defaults, ...asked };
    const limits: CheckLimits = {
      scope,
      fileKey,
      filter,
      workspaceKey,
      partitions: new Set([...groups.values()].flat()),
    };
    const outcome = (results: SearchResult[], rerankSkipped?: string): SearchOutcome => ({
      results,
      ...(rerankSkipped === undefined ? {} : { rerankSkipped }),
      ...(request.trace === true ? { trace: trace.written() } : {}),
    });
    if (groups.size === 0 || fileKeys?.length === 0) return outcome([]);

    const candidates = Math.max(request.candidates ?? settings.candidates, topK);
    const searchGroups = (): Promise<GroupHits[]> =>
      Promise.all(
        [...groups].map(async ([name, names]) => {
          const embedder = await models.embedder(name);
          const legs = searchLegs(dependencies, {
            ...limits,
            partitions: new Set(names),
            embedder,
            countedIn: [...limits.partitions],
            similarityThreshold:
              request.similarityThreshold ?? embedder.similarityThreshold ?? settings.similarityThreshold,
            text,
            topK,
            signal,
            size: Math.min(candidates, MAX_SIZE),
            vectorsOf: hasFeedback(request) && takesFeedback(embedder) ? VECTORS_AT_HAND : 0,
            ...(fileKeys !== undefined && { fileKeys }),
          });
          // Asked for behind the question itself, which is embedded first; not where the weight is given.
          const competence = request.vectorWeight === undefined ? competences.of(embedder, text) : null;
          const [found, measured] = await Promise.all([legs, competence]);
          return { ...found, competence: measured };
        }),
      );
    const rerank = request.rerank ?? { enabled: false };
    const wanted = rerank.enabled ? candidates : topK;
    const read = async (round: number): Promise<SearchResult[]> => {
      const found = await trace.timed('retrieval', searchGroups);
      const { vectorWeight } = request;
      const first = fuseGroups(found, vectorWeight);
      // Most of what is best before feedback is among the best after it, so it is read meanwhile.
      const answered = wanted + Math.min(wanted, SPARE_READS);
      const likely = first.results
        .slice(0, hasWordFeedback(request) ? Math.max(answered, TEXTS_READ) : answered)
        .map(({ chunk }) => chunk.chunk_id);
      const { groups: legs, chunks: known } = hasFeedback(request)
        ? await trace.timed('feedback', () =>
            addFeedback(chunks, found, first.results, { read: likely, signal }),
          )
        : { groups: found, chunks: await chunks.getMany(likely, signal) };
      const fused = legs === found ? first : fuseGroups(legs, vectorWeight);
      const byWords = hasWordFeedback(request)
        ? wordFeedback(rankingOf(fused.results), textsOf(known))
        : null;
      const ranked = byWords === null ? fused.results : inOrder(fused.results, byWords);
      trace.retrieved(legs, fused, byWords);
      const { results, gone } = await trace.timed('read', () =>
        readResults(chunks, ranked, { wanted, known, signal }),
      );
      // Replaced or deleted since its record was read: what took its place must be found.
      return gone && round < MAX_ROUNDS ? read(round + 1) : results;
    };
    const results = await read(1);
    const reranked = await trace.timed('rerank', () =>
      rerankResults(models, results, { ...rerank, text, signal, onError: settings.rerankOnError }),
    );
    trace.reranked(reranked.trace);
    const best = reranked.results.slice(0, topK);
    const { related } = request;
    const added =
      related === undefined
        ? []
        : await trace.timed('expansion', () => expandResults(dependencies, best, related, limits, signal));
    if (related !== undefined) trace.expanded(added);
    return outcome([...best, ...added], reranked.trace?.skipped);
  };

  return { search: async (request) => (await run(request)).results, searchInFull: run };
}
