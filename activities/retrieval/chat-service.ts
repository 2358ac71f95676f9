import { AppError } from '../../schemas/app-error.js';
import type { Scope } from '../../schemas/documents.js';
import type { ChatMessage, FinishReason, LanguageModel, ModelRegistry } from '../ports.js';
import { countTokens } from '../parsing/token-count.js';
import { createCitationFilter } from './chat/citations.js';
import { countMessageTokens, TOKENS_PER_MESSAGE } from './message-tokens.js';
import { buildPrompt, LEAST_SOURCES_BUDGET, promptOverhead } from './chat/prompt.js';
import { relayModelStream } from './chat/relay-model-stream.js';
import type { RelayedAnswer } from './chat/relay-model-stream.js';
import { returnAborts } from './chat/return-aborts.js';
import type { SearchResult, SearchService } from './search-service.js';

export interface ChatRequest {
  scope: Scope;
  target: { kind: 'direct' } | { kind: 'retrieval'; partitions: readonly string[] | 'all' };
  messages: readonly ChatMessage[];
  temperature?: number;
  topP?: number;
  maxTokens?: number;
  stop?: string[];
  similarityThreshold?: number;
  /** Hits asked of each retrieval leg, and pieces that the answer may use; the service's settings by default. */
  candidates?: number;
  topN?: number;
  /** Endpoint of the language model; the default one when absent. */
  languageModel?: string;
  signal: AbortSignal;
}

export interface ChatSources {
  /** Everything put into the prompt, in numbering order. */
  presented: SearchResult[];
  cited: SearchResult[];
  /** Whether the answer ended in a citation line. */
  reported: boolean;
  /** Whether that line said `none`. */
  none: boolean;
}

export type ChatEvent =
  | { type: 'delta'; content: string }
  | {
      type: 'end';
      finishReason: FinishReason;
      usage: { promptTokens: number; completionTokens: number };
      /** The model's stream broke off after the answer had begun; `error` says why. */
      truncated: boolean;
      error?: AppError;
      sources: ChatSources;
    };

export interface ChatService {
  /**
   * Deltas, then exactly one end. What goes wrong before the first delta is thrown. Returning early, or aborting
   * the signal, stops the model at once.
   *
   * @throws AppError BAD_REQUEST, CONTEXT_TOO_LONG, and those of search and models
   */
  respond(request: ChatRequest): AsyncGenerator<ChatEvent, void, undefined>;
}

/** The sources to show: those cited; none after `[Sources: none]`; otherwise all that were presented. */
export const shownSources = ({ presented, cited, none }: ChatSources): SearchResult[] => {
  if (cited.length > 0) return cited;
  return none ? [] : presented;
};

/** What was asked of the model, and what came of it. */
interface Asked {
  relay: RelayedAnswer;
  messages: readonly ChatMessage[];
  presented: SearchResult[];
}

const lastQuestion = (messages: readonly ChatMessage[]): string => {
  const last = messages.at(-1);
  if (last?.role === 'user' && last.content.trim() !== '') return last.content;
  throw new AppError('BAD_REQUEST', 'The last message must be a non-empty user message', { plain: true });
};

/** Retrieval, prompt, model, citations: the chat pipeline. */
export const createChatService = (dependencies: {
  search: SearchService;
  models: Pick<ModelRegistry, 'languageModel'>;
  settings: { topN: number; contextTokens: number; maxOutputTokens: number };
  now: () => Date;
}): ChatService => {
  const { search, models, settings, now } = dependencies;

  /** Counts before anything costly is done. `left` is what the sources may take. */
  const planTokens = (request: ChatRequest, model: LanguageModel, overhead: number) => {
    const context = Math.min(model.contextTokens, settings.contextTokens);
    // A default answer budget never takes more than half of a small context; what the client asks for is its own.
    const maxTokens = request.maxTokens ?? Math.min(settings.maxOutputTokens, Math.floor(context / 2));
    const messages = countMessageTokens(request.messages);
    const left = context - messages - maxTokens - overhead;
    if (left >= (overhead === 0 ? 0 : LEAST_SOURCES_BUDGET)) return { maxTokens, left };
    throw new AppError(
      'CONTEXT_TOO_LONG',
      `Request exceeds maximum token limit. The messages take ${messages} tokens, the answer up to ${maxTokens}` +
        `${overhead === 0 ? '' : ` and the instructions ${overhead}`}; the model's context holds ${context}.`,
    );
  };

  const retrieve = async (request: ChatRequest, partitions: readonly string[] | 'all', text: string) => {
    const { scope, similarityThreshold, candidates, signal } = request;
    return search.search({
      ...{ scope, partitions, text, topK: request.topN ?? settings.topN, signal },
      ...(candidates !== undefined && { candidates }),
      ...(similarityThreshold !== undefined && { similarityThreshold }),
    });
  };

  async function* pipeline(request: ChatRequest): AsyncGenerator<ChatEvent, void, undefined> {
    const { target } = request;
    const question = lastQuestion(request.messages);
    const model = await models.languageModel(request.languageModel);
    const date = now();
    const direct = target.kind === 'direct';
    const { maxTokens, left } = planTokens(
      request,
      model,
      direct ? 0 : promptOverhead(date) + TOKENS_PER_MESSAGE,
    );
    const { temperature, topP, stop, signal } = request;
    const options = {
      maxTokens,
      signal,
      ...(temperature !== undefined && { temperature }),
      ...(topP !== undefined && { topP }),
      ...(stop !== undefined && { stop }),
    };
    const found = direct ? [] : await retrieve(request, target.partitions, question);
    const ask = async function* (budget: number): AsyncGenerator<ChatEvent, Asked, undefined> {
      if (direct) {
        // Without retrieval nothing was asked to cite, so nothing is cut off.
        const relay = yield* relayModelStream(model, request.messages, options, null);
        return { relay, messages: request.messages, presented: [] };
      }
      const { system, presented } = buildPrompt(found, { date, budget });
      // Ours comes first; the client's own system messages stay, behind it.
      const messages: ChatMessage[] = [{ role: 'system', content: system }, ...request.messages];
      const filter = createCitationFilter(presented.length);
      try {
        const relay = yield* relayModelStream(model, messages, options, filter);
        return { relay, messages, presented };
      } catch (error) {
        const half = Math.floor(Math.min(budget, countTokens(system)) / 2);
        const tooLong = error instanceof AppError && error.code === 'CONTEXT_TOO_LONG';
        if (!tooLong || presented.length === 0 || half < LEAST_SOURCES_BUDGET) throw error;
        // The model counts other tokens than we do. Nothing was answered yet: fewer sources may fit.
        return yield* ask(half);
      }
    };
    const { relay, messages, presented } = yield* ask(left);
    yield {
      type: 'end',
      finishReason: relay.finishReason,
      usage: relay.usage ?? {
        promptTokens: countMessageTokens(messages),
        completionTokens: countTokens(relay.answer),
      },
      truncated: relay.error !== undefined,
      ...(relay.error !== undefined && { error: relay.error }),
      sources: {
        presented,
        cited: relay.citations.cited.flatMap((number) => presented[number - 1] ?? []),
        reported: relay.citations.reported,
        none: relay.citations.none,
      },
    };
  }

  return {
    respond: (request) => returnAborts(request.signal, (signal) => pipeline({ ...request, signal })),
  };
};
