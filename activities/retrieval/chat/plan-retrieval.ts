import type { PromptSource } from '../../ports/prompts.js';
import type { LanguageModel } from '../../ports/models.js';
import { followsInstructions } from './ask-model.js';
import { isCasual } from './casual-phrases.js';
import type { ChatRequest } from './chat-request.js';
import type { RewritingTrace } from './chat-trace.js';
import type { SourceQuery } from './find-sources.js';
import type { RewrittenQuery } from './parse-rewriting.js';
import type { QuestionRewriter } from './rewrite-question.js';
import { writeQueries } from './write-queries.js';

export interface RetrievalPlan {
  rewriting: RewritingTrace;
  rewritten: RewrittenQuery[];
  /** Variants or a passage. */
  written: SourceQuery[];
}

const DEFAULT_HISTORY_DEPTH = 4;

/**
 * Small talk needs no documents. The model's own word is not enough for that: a question in passing would get no
 * documents. The built-in model can only quote, so it always gets something to quote from.
 */
export function needsNoRetrieval(request: ChatRequest, question: string, model: LanguageModel): boolean {
  return request.requireRetrieval !== true && followsInstructions(model) && isCasual(question);
}

/** What to search for beside the question itself. Every step is optional, quick and silent when it fails. */
export function createRetrievalPlanner(dependencies: {
  rewriter: QuestionRewriter;
  prompts: PromptSource;
  /** False: questions stand for themselves, whatever was said before (RAG_MODE=SimpleRag). */
  rewriting: boolean;
}) {
  const { rewriter, prompts, rewriting } = dependencies;

  const rewrite = async (
    request: ChatRequest,
    model: LanguageModel,
    date: Date,
  ): Promise<Pick<RetrievalPlan, 'rewriting' | 'rewritten'>> => {
    if (!followsInstructions(model)) return { rewriting: { status: 'built-in' }, rewritten: [] };
    if (request.bypassRewriting === true) return { rewriting: { status: 'bypassed' }, rewritten: [] };
    if (!rewriting) return { rewriting: { status: 'off' }, rewritten: [] };
    const { messages, historyDepth = DEFAULT_HISTORY_DEPTH, signal } = request;
    const prompt = await prompts.text('query_contextualizer', request.prompts?.contextualizer);
    const { apiKey, baseUrl } = request.override ?? {};
    const isClients = apiKey !== undefined || baseUrl !== undefined;
    const { userId } = request.scope;
    const asked = { model, isClients, userId, prompt, messages, historyDepth, date, signal };
    const found = await rewriter.rewrite(asked);
    if (found === 'resting') return { rewriting: { status: 'resting' }, rewritten: [] };
    if (found === null) return { rewriting: { status: 'failed' }, rewritten: [] };
    const { intent, requiresRetrieval, queries } = found;
    return {
      rewriting: { status: 'used', intent, requires_retrieval: requiresRetrieval },
      rewritten: queries,
    };
  };

  return async (
    request: ChatRequest,
    question: string,
    model: LanguageModel,
    date: Date,
  ): Promise<RetrievalPlan> => {
    const plan = await rewrite(request, model, date);
    const { type = 'single', signal } = request;
    if (type === 'single' || !followsInstructions(model)) return { ...plan, written: [] };
    const named = request.prompts;
    const prompt = await (type === 'hyde'
      ? prompts.text('hyde', named?.hyde)
      : prompts.text('multi_query', named?.multiQuery));
    // With the meaning that the conversation gives it, where that is known.
    const [only, ...others] = plan.rewritten;
    const asked = only !== undefined && others.length === 0 ? only.text : question;
    return { ...plan, written: await writeQueries(asked, { type, model, prompt, date, signal }) };
  };
}

export type RetrievalPlanner = ReturnType<typeof createRetrievalPlanner>;
