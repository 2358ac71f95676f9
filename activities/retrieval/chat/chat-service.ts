import { AppError } from '../../../schemas/app-error.js';
import type { ModelOverrides, WebSearch } from '../../ports/chat.js';
import { countInSlices } from '../../text/count-in-slices.js';
import type { ChunkStore } from '../../ports/chunks.js';
import type { FileStore } from '../../ports/files.js';
import type { ChatMessage, LanguageModel, ModelRegistry } from '../../ports/models.js';
import type { PartitionStore } from '../../ports/partitions.js';
import type { PromptSource } from '../../ports/prompts.js';
import { addressesIn, createLinkFilter } from './answer-links.js';
import { answerEnd, textsOf } from './answer-end.js';
import type { Asked } from './answer-end.js';
import type { ChatEnd, ChatEvent, ChatRequest } from './chat-request.js';
import { createCitationFilter } from './citations.js';
import { isWebPage } from './chat-sources.js';
import type { ChatSource } from './chat-sources.js';
import { createAttachmentFinder } from './find-attachments.js';
import { createSourceFinder } from './find-sources.js';
import { createSourceGatherer } from './gather-sources.js';
import type { GatherSettings, Gathered } from './gather-sources.js';
import { keepVerified } from './keep-verified.js';
import { planTokens } from './plan-tokens.js';
import { buildPrompt, MIN_SOURCES_BUDGET, promptOverhead, TOKENS_PER_SOURCE } from './prompt.js';
import type { Material, Voice } from './prompt.js';
import { relayModelStream } from './relay-model-stream.js';
import { returnAborts } from './aborts.js';
import { createQuestionRewriter } from './rewrite-question.js';
import { createRetrievalPlanner, needsNoRetrieval } from './plan-retrieval.js';
import { asClientsFault, withErrors } from '../../models/clients-fault.js';
import { TOKENS_PER_MESSAGE } from '../../models/builtin/message-tokens.js';
import type { SearchService } from '../search/search-types.js';
import { languageOf } from '../../text/language-of.js';
import { createAnswerChecker } from '../verification/check-answer.js';

export interface ChatService {
  /**
   * Deltas, then exactly one end. What goes wrong before the first delta is thrown. Returning early, or aborting
   * the signal, stops the model at once.
   *
   * @throws AppError BAD_REQUEST, CONTEXT_TOO_LONG, FILE_NOT_FOUND, and those of search, models and overrides
   */
  respond(request: ChatRequest): AsyncGenerator<ChatEvent, void, undefined>;
}

export interface ChatServiceSettings extends GatherSettings {
  voice: Voice;
  maxOutputTokens: number;
  chunkSize: number;
  /** Whether questions are rewritten by the conversation. */
  rewriting: boolean;
  filterlessFallback: boolean;
}

function isResult(message: ChatMessage | undefined): boolean {
  return message?.role === 'tool' || message?.role === 'function';
}

/**
 * The message that asks. Behind it only results of tools may stand: they were fetched for it.
 * @throws AppError BAD_REQUEST, plain
 */
export function questionIn(messages: readonly ChatMessage[]): string {
  const last = messages.findLast((message) => !isResult(message));
  const asking = last?.role === 'assistant' && isResult(messages.at(-1));
  const question = asking ? messages.findLast(({ role }) => role === 'user') : last;
  if (question?.role === 'user' && question.content.trim() !== '') return question.content;
  throw new AppError('BAD_REQUEST', 'The last message must be a non-empty user message', { plain: true });
}

/** A format that the model is bound to leaves no room for a line of citations. */
function isBoundToFormat({ more }: ChatRequest): boolean {
  const format = more?.['response_format'] as { type?: unknown } | null | undefined;
  return format != null && format.type !== 'text';
}

/**
 * The client's messages behind our prompt. Those of the system at their beginning go into its message: templates of
 * some models take one, and at the beginning alone.
 */
function behindPrompt(system: string, messages: readonly ChatMessage[]): ChatMessage[] {
  const other = messages.findIndex(({ role }) => role !== 'system');
  const first = other === -1 ? messages.length : other;
  const theirs = messages.slice(0, first).flatMap(({ content }) => (content.trim() === '' ? [] : [content]));
  return [{ role: 'system', content: [system, ...theirs].join('\n\n') }, ...messages.slice(first)];
}

/** What holds addresses that an answer may repeat: its sources, and what the client wrote or its tools came to. */
function knownTexts(presented: readonly ChatSource[], { messages }: ChatRequest): string[] {
  return [
    ...presented.flatMap((source) =>
      isWebPage(source) ? [source.url] : [source.version.filename, ...source.chunk.heading_path],
    ),
    ...textsOf(presented),
    ...messages.flatMap(({ role, content }) => (role === 'assistant' ? [] : [content])),
  ];
}

/**
 * What was gathered, without what the end of this answer does not tell: an answer may take minutes, and what was found
 * is more than what stands in the prompt.
 */
function toldAtEnd(
  request: ChatRequest,
  { materials, attachments, degraded, retrieved, trace }: Gathered,
): { materials: Material[]; end: Partial<ChatEnd>; trace: Gathered['trace'] | null } {
  const searched = [...new Set(trace.queries.map(({ text }) => text))];
  return {
    materials,
    end: {
      ...(request.allRetrieved === true && { allRetrieved: retrieved }),
      ...(searched.length > 0 && { searched }),
      ...(attachments.length > 0 && { attachments }),
      ...(degraded.length > 0 && { degraded }),
    },
    trace: request.trace === true ? trace : null,
  };
}

function idOf(source: ChatSource): string {
  return isWebPage(source) ? source.url : source.chunk.chunk_id;
}

/** The answer when every sentence that claims something was withheld. */
const NOTHING_LEFT = {
  en: 'The sources do not support an answer to this question.',
  fr: 'Les sources ne permettent pas de répondre à cette question.',
} as const;

/** Question, sources, prompt, model, citations: the chat pipeline (wire contract, section 1.9). */
export function createChatService(dependencies: {
  search: SearchService;
  models: Pick<ModelRegistry, 'languageModel'>;
  overrides: ModelOverrides;
  promptSource: PromptSource;
  files: Pick<FileStore, 'get'>;
  chunks: Pick<ChunkStore, 'listByFile'>;
  partitions: Pick<PartitionStore, 'list'>;
  /** Null: not configured. */
  web: WebSearch | null;
  settings: ChatServiceSettings;
  now: () => Date;
}): ChatService {
  const { models, overrides, promptSource: prompts, settings, now } = dependencies;
  const gather = createSourceGatherer({
    finder: createSourceFinder(dependencies.search, settings),
    read: createRetrievalPlanner({
      rewriter: createQuestionRewriter(),
      prompts,
      rewriting: settings.rewriting,
    }),
    findAttachments: createAttachmentFinder(dependencies),
    web: dependencies.web,
    settings,
  });

  const answeringModel = (request: ChatRequest): Promise<LanguageModel> =>
    request.override === undefined
      ? models.languageModel(request.languageModel)
      : overrides.languageModel(request.override, request.languageModel);

  /** Rewriting is optional, so a model that is gone or away is no reason to fail. */
  const rewritingModel = async (request: ChatRequest, answering: LanguageModel): Promise<LanguageModel> =>
    request.rewritingModel === undefined
      ? answering
      : models.languageModel(request.rewritingModel).catch(() => answering);

  /** With as many sources as fit; with fewer when the model finds the prompt too long. Takes `materials` as its own. */
  async function* askWithSources(
    request: ChatRequest,
    materials: Material[],
    asking: {
      model: LanguageModel;
      options: Parameters<typeof relayModelStream>[2];
      frame: Parameters<typeof promptOverhead>[0];
    },
    budget: number,
  ): AsyncGenerator<ChatEvent, Asked, undefined> {
    const { model, options, frame } = asking;
    const { system, presented } = await buildPrompt(materials, { ...frame, budget, signal: request.signal });
    const messages = behindPrompt(system, request.messages);
    const isData = isBoundToFormat(request);
    const language = languageOf(questionIn(request.messages)) ?? 'en';
    const filters = {
      citations: isData ? null : createCitationFilter(presented.length),
      links: createLinkFilter({ known: addressesIn(knownTexts(presented, request)), language, isData }),
      // Those that are not in the prompt are of no use any more, and an answer may take minutes.
      onBegun: () => void materials.splice(0),
    };
    try {
      const shown = relayModelStream(model, messages, options, filters);
      if (request.unverified === undefined) return { relay: yield* shown, messages, presented };
      const verified = yield* keepVerified(shown, createAnswerChecker(textsOf(presented)), {
        unverified: request.unverified,
        nothingLeft: NOTHING_LEFT[language],
        signal: request.signal,
      });
      return { ...verified, messages, presented };
    } catch (error) {
      const half = Math.floor(Math.min(budget, await countInSlices(system, budget, request.signal)) / 2);
      const tooLong = error instanceof AppError && error.code === 'CONTEXT_TOO_LONG';
      if (!tooLong || presented.length === 0 || half < MIN_SOURCES_BUDGET) throw error;
      // The model counts other tokens than we do. Nothing was answered yet: fewer sources may fit.
      return yield* askWithSources(request, materials, asking, half);
    }
  }

  // eslint-disable-next-line complexity -- the steps of an answer in order; most branches are optional steps
  async function* pipeline(request: ChatRequest): AsyncGenerator<ChatEvent, void, undefined> {
    const question = questionIn(request.messages);
    const [model, template] = await Promise.all([
      answeringModel(request),
      request.spokenStyle === true
        ? prompts.text('spoken_style_answer', request.prompts?.spoken)
        : prompts.text('sys_prompt', request.prompts?.system),
    ]);
    const date = now();
    const direct =
      (request.target.kind === 'direct' && request.webSearch !== true) ||
      (request.webSearch !== true &&
        (request.attachments ?? []).length === 0 &&
        request.unverified === undefined &&
        needsNoRetrieval(request, question, model));
    const frame = { template, date, voice: settings.voice };
    const { maxTokens, left } = await planTokens({
      messages: request.messages,
      maxTokens: request.maxTokens,
      contextTokens: model.contextTokens,
      answerTokens: model.answerTokens ?? settings.maxOutputTokens,
      overhead: direct ? 0 : (await promptOverhead(frame, request.signal)) + TOKENS_PER_MESSAGE,
      signal: request.signal,
    });
    const { temperature, topP, stop, more, signal } = request;
    const options = {
      maxTokens,
      signal,
      ...(temperature !== undefined && { temperature }),
      ...(topP !== undefined && { topP }),
      ...(stop !== undefined && { stop }),
      ...(more !== undefined && { more }),
    };
    // Steps on the way ask with fields of ours.
    const answering =
      request.ownFields === true ? withErrors(model, (error) => asClientsFault(error)) : model;
    if (direct) {
      // Without retrieval nothing was asked to cite, so nothing is cut off.
      const relay = yield* relayModelStream(answering, request.messages, options, {
        citations: null,
        links: null,
      });
      yield await answerEnd({ relay, messages: request.messages, presented: [] });
      return;
    }
    const rewriting = await rewritingModel(request, model);
    const { materials, end, trace } = toldAtEnd(
      request,
      await gather(request, question, { answering: model, rewriting }, date),
    );
    // As many tokens as the reranker would leave chunks (wire contract, section 1.9), and what the web may add to them.
    const documents = (request.topN ?? settings.topN) * (settings.chunkSize + 2 * TOKENS_PER_SOURCE);
    const web = request.webSearch === true ? settings.webSearch.maxTokens : 0;
    const asking = { model: answering, options, frame };
    const asked = yield* askWithSources(request, materials, asking, Math.min(left, documents + web));
    yield {
      ...(await answerEnd(asked)),
      ...end,
      ...(trace !== null && { trace: { ...trace, presented: asked.presented.map(idOf) } }),
    };
  }

  return {
    respond: (request) => returnAborts(request.signal, (signal) => pipeline({ ...request, signal })),
  };
}
