import type { ProbedFacts, ModelProvider } from '../../../schemas/models/model-endpoints.js';
import type { ChatDelta, ChatMessage, ChatOptions, ChatReply } from '../../ports/models.js';
import type { AnswerLimits } from './model-exchange.js';

/** A model on a server, as its list names it. */
export interface ServedModel {
  name: string;
  contextTokens: number | null;
}

export interface ModelDescription extends Pick<ProbedFacts, 'context_tokens' | 'text_form'> {
  /** What it is for; null when the server does not tell. */
  kind: 'embedder' | 'llm' | null;
  /** Whether it takes pictures; null when the server does not tell. */
  sees: boolean | null;
}

export interface ChatCall {
  model: string;
  messages: readonly ChatMessage[];
  options: ChatOptions;
  /** The window to run the model with. */
  contextTokens: number;
}

export interface EmbedCall {
  model: string;
  texts: readonly string[];
  /** The window to run the model with; null: the server's choice. */
  windowTokens: number | null;
  /**
   * Processor threads to run the model with, where the server lets that be said; null: the server's choice. Of one
   * model it must be the same in every call, as its window must: another number loads the model anew.
   */
  threads: number | null;
}

/**
 * A model server behind its dialect. Every method throws `ProviderFailure`, or the signal's reason when aborted.
 * Vectors come as the server gives them; nothing is retried, cut or normalised here.
 */
export interface ModelServer {
  provider: ModelProvider;
  models(signal?: AbortSignal): Promise<ServedModel[]>;
  /** @throws ProviderFailure `unknown-model` when the server knows that it has no such model */
  describe(model: string, signal?: AbortSignal): Promise<ModelDescription>;
  embed(call: EmbedCall, signal?: AbortSignal): Promise<number[][]>;
  /** Ends early, and stops the model, when the signal aborts or the consumer returns. */
  stream(call: ChatCall): AsyncGenerator<ChatDelta, void, undefined>;
  complete(call: ChatCall): Promise<ChatReply>;
}

export interface ModelServerOptions {
  baseUrl: string;
  apiKey: string | null;
  /** Longest silence, in milliseconds. */
  timeoutMs: number;
  /** Those of servers that an operator chose unless given. */
  limits?: AnswerLimits;
}

/** Whether a server's list means the model that is wanted: `:latest` may be left out. */
export function sameModel(listed: string, wanted: string): boolean {
  return listed === wanted || listed === `${wanted}:latest` || `${listed}:latest` === wanted;
}
