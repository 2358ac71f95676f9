import type { WebPage, WebSearch } from '../../ports/chat.js';
import type { LanguageModel } from '../../ports/models.js';
import { TRACE_VERSION } from '../search/retrieval-trace.js';
import type { RelatedRequest, SearchResult } from '../search/search-types.js';
import { followsInstructions } from './ask-model.js';
import type { Attachment, ChatRequest, DegradedStep } from './chat-request.js';
import { idsOf } from './chat-trace.js';
import type { ChatTrace } from './chat-trace.js';
import type { AttachmentFinder } from './find-attachments.js';
import type { SearchFrame, SourceFinder } from './find-sources.js';
import { reduceSources } from './map-reduce.js';
import type { MapReduceSettings } from './map-reduce.js';
import { cutToTokens, documentMaterial, webMaterial } from './prompt.js';
import type { Material } from './prompt.js';
import type { RetrievalPlanner } from './plan-retrieval.js';
import type { RewrittenQuery } from './parse-rewriting.js';

/** Wire contract, section 6.2. */
export interface GatherSettings {
  topN: number;
  relatedLimit: number;
  maxAncestorDepth: number;
  mapReduce: MapReduceSettings;
  webSearch: { maxTokens: number };
}

export interface Gathered {
  /** In the order in which they are numbered: named files, what was found, the web. */
  materials: Material[];
  retrieved: SearchResult[];
  attachments: Attachment[];
  degraded: DegradedStep[];
  /** Without what is known later. */
  trace: Omit<ChatTrace, 'presented'>;
}

const DEFAULT_RRF_K = 60;
/** Web results are optional: an answer waits for them no longer than this. */
const WEB_WITHIN_MS = 8000;

function relatedOf(request: ChatRequest, settings: GatherSettings): RelatedRequest | null {
  const { includeRelated = false, includeAncestors = false, disableExpansion = false } = request;
  if (disableExpansion || request.fileKey !== undefined || (!includeRelated && !includeAncestors))
    return null;
  const { relatedLimit, maxAncestorDepth } = settings;
  return { includeRelated, includeAncestors, relatedLimit, maxAncestorDepth };
}

/** Whether the question has a conversation before it, by which it may have to be understood. */
function isFollowUp({ messages }: ChatRequest): boolean {
  const asked = messages.findLastIndex(({ role }) => role === 'user');
  return messages.slice(0, asked).some(({ role }) => role === 'user' || role === 'assistant');
}

/** What a follow-up asks for by itself: for those who see nothing of its conversation. */
function meaningOf(request: ChatRequest, rewritten: readonly RewrittenQuery[]): string[] {
  return isFollowUp(request) ? rewritten.map(({ text }) => text) : [];
}

function withMeaning(question: string, meant: readonly string[]): string {
  return meant.length === 0 ? question : `${question} (that is: ${meant.join('; ')})`;
}

/** Everything that may stand in the prompt of a chat with retrieval. */
export function createSourceGatherer(dependencies: {
  finder: SourceFinder;
  read: RetrievalPlanner;
  findAttachments: AttachmentFinder;
  /** Null: not configured. */
  web: WebSearch | null;
  settings: GatherSettings;
}) {
  const { finder, read, findAttachments, web, settings } = dependencies;

  const searchWeb = async (request: ChatRequest, question: string): Promise<WebPage[] | null> => {
    if (request.webSearch !== true) return [];
    if (web === null) return null;
    const signal = AbortSignal.any([request.signal, AbortSignal.timeout(WEB_WITHIN_MS)]);
    return web.search(question, signal).catch(() => {
      request.signal.throwIfAborted();
      return null;
    });
  };

  /** Searches at once for a question that stands by itself, and for a follow-up once its meaning is given. */
  const beginWeb = (request: ChatRequest, question: string) => {
    const start = (text: string): Promise<WebPage[] | null> => {
      const pages = searchWeb(request, text);
      // Awaited at the end; a rejection before that, when the client has left, is handled here.
      pages.catch(() => undefined);
      return pages;
    };
    let pages = isFollowUp(request) ? null : start(question);
    return (meant: readonly string[] = []) => (pages ??= start(meant.join(' ') || question));
  };

  const frameOf = (request: ChatRequest, partitions: readonly string[] | 'all'): SearchFrame => {
    const { scope, similarityThreshold, vectorWeight, candidates, workspace, fileKey, rerank, signal } =
      request;
    const related = relatedOf(request, settings);
    const mapReduce = request.mapReduce === true ? settings.mapReduce.maxTotal : 0;
    const enabled = rerank?.enabled === true && request.disableReranker !== true;
    return {
      scope,
      partitions,
      signal,
      topK: Math.max(request.topN ?? settings.topN, mapReduce),
      ...(candidates !== undefined && { candidates }),
      ...(similarityThreshold !== undefined && { similarityThreshold }),
      ...(vectorWeight !== undefined && { vectorWeight }),
      ...(workspace !== undefined && { workspace }),
      ...(fileKey !== undefined && { fileKey }),
      ...(related !== null && { related }),
      ...(rerank !== undefined && { rerank: { ...rerank, enabled } }),
      ...(request.trace === true && { trace: true }),
    };
  };

  /** @param models for the answer, and for the steps on the way to it */
  return async (
    request: ChatRequest,
    question: string,
    models: { answering: LanguageModel; rewriting: LanguageModel },
    date: Date,
  ): Promise<Gathered> => {
    const { target } = request;
    const started = performance.now();
    const times: Record<string, number> = {};
    const mark = (step: string): void => void (times[step] = Math.round(performance.now() - started));
    const webPages = beginWeb(request, question);
    const degraded: DegradedStep[] = [];
    const gathered: Gathered = {
      materials: [],
      retrieved: [],
      attachments: [],
      degraded,
      trace: {
        schema_version: TRACE_VERSION,
        question,
        rewriting: { status: 'off' },
        queries: [],
        fused: [],
        times,
      },
    };

    if (target.kind === 'retrieval') {
      const { partitions } = target;
      const frame = frameOf(request, partitions);
      // The question itself is searched for while the model thinks about it.
      const begun = finder.begin(question, frame);
      begun.catch(() => undefined);
      const named = await findAttachments(request.attachments ?? [], { scope: request.scope, partitions });
      const plan = await read(request, question, models.rewriting, date);
      mark('understand');
      const meant = meaningOf(request, plan.rewritten);
      void webPages(meant);
      const options = { text: question, frame, rrfK: request.rrfK ?? DEFAULT_RRF_K };
      const found = await finder.find(begun, plan.rewritten, plan.written, options);
      mark('search');
      const known = new Set(idsOf(named.results));
      const results = found.results.filter(({ chunk }) => !known.has(chunk.chunk_id));
      const reduced =
        request.mapReduce === true && followsInstructions(models.answering)
          ? await reduceSources(results, {
              question: withMeaning(question, meant),
              model: models.answering,
              settings: settings.mapReduce,
              signal: request.signal,
            })
          : results.map((result) => ({ result, text: result.chunk.text }));
      mark('reduce');
      if (found.rerankSkipped) degraded.push('reranker');
      Object.assign(gathered, { retrieved: found.retrieved, attachments: named.attachments });
      gathered.materials.push(
        ...named.results.map((result) => documentMaterial(result)),
        ...reduced.map(({ result, text }) => documentMaterial(result, text)),
      );
      Object.assign(gathered.trace, {
        rewriting: plan.rewriting,
        queries: found.queries,
        fused: idsOf(found.retrieved),
        ...(request.compareOriginal === true && {
          original_query: idsOf((await begun).outcome.results),
        }),
      });
    } else if (web !== null && isFollowUp(request)) {
      const plan = await read({ ...request, type: 'single' }, question, models.rewriting, date);
      mark('understand');
      gathered.trace.rewriting = plan.rewriting;
      void webPages(meaningOf(request, plan.rewritten));
    }
    const pages = await webPages();
    mark('web');
    if (pages === null) degraded.push('websearch');
    const share = Math.floor(settings.webSearch.maxTokens / Math.max(1, pages?.length ?? 0));
    for (const page of pages ?? []) {
      const snippet = await cutToTokens(page.snippet, share, request.signal);
      gathered.materials.push(webMaterial({ ...page, snippet }));
    }
    return gathered;
  };
}
