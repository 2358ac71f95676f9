import type { LanguageModel } from './models.js';
import type { PromptSource } from './prompts.js';

/** Interfaces of what only chat reaches for. */

export interface WebPage {
  url: string;
  title: string;
  snippet: string;
}

export interface WebSearch {
  /**
   * Best first, public addresses only.
   * @throws AppError SERVICE_UNAVAILABLE when the provider cannot be used, or the signal's reason
   */
  search(query: string, signal: AbortSignal): Promise<WebPage[]>;
}

/** Another model, server or key than the service's own, as a client names them. */
export interface ModelOverride {
  model?: string;
  baseUrl?: string;
  apiKey?: string;
}

export interface ModelOverrides {
  /**
   * The model that an override means; what it leaves out is the endpoint's. The service's own key goes to the
   * endpoint's own address alone.
   *
   * @param endpoint name of the language model's endpoint; the default one when absent
   * @throws AppError BAD_REQUEST, plain, for an address or a key that is not allowed. The model that is answered
   * throws INFERENCE_REFUSED with status 400 when a key of the client's is refused, and BAD_REQUEST when a model or a
   * server that the client names is not there, or refuses what it is asked.
   */
  languageModel(override: ModelOverride, endpoint?: string): Promise<LanguageModel>;
}

/** What chat needs beside the adapters that others use as well. */
export interface ChatAdapters {
  overrides: ModelOverrides;
  promptSource: PromptSource;
  /** Null: not configured. */
  web: WebSearch | null;
}
