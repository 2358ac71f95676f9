import type { RetrievalConfig } from '../../../schemas/models/presets.js';
import type { Scope } from '../../../schemas/documents/users.js';
import type { AppError } from '../../../schemas/app-error.js';
import type { ModelOverride } from '../../ports/chat.js';
import type { ChatMessage, FinishReason, MoreFields } from '../../ports/models.js';
import type { ChatSource, ChatSources } from './chat-sources.js';
import type { ChatTrace } from './chat-trace.js';
import type { JudgedSentence, Unverified } from './keep-verified.js';
import type { ShownDelta } from './relay-model-stream.js';

/** What the searched partition, or the default preset, says. */
export interface ChatSettings {
  /** Hits asked of each retrieval leg, and chunks that the answer may use; the service's settings by default. */
  candidates?: number;
  topN?: number;
  similarityThreshold?: number;
  /** Share of the vectors in a fused score; by what the embedders understand by default. */
  vectorWeight?: number;
  /** Endpoint of the language model; the default one when absent. */
  languageModel?: string;
  /** Endpoint of the model that rewrites questions; the answering one when absent. */
  rewritingModel?: string;
  /** Messages of the conversation that rewriting looks at. */
  historyDepth?: number;
  type?: RetrievalConfig['type'];
  rrfK?: number;
  rerank?: { enabled: boolean; reranker?: string };
  includeRelated?: boolean;
  includeAncestors?: boolean;
  prompts?: {
    system?: string;
    spoken?: string;
    contextualizer?: string;
    hyde?: string;
    multiQuery?: string;
  };
}

/** What a client asks for beside an answer (`metadata`; wire contract, section 1.9). */
export interface ChatRequestOptions {
  spokenStyle?: boolean;
  mapReduce?: boolean;
  webSearch?: boolean;
  override?: ModelOverride;
  workspace?: string;
  /** The key of the one file that is searched. */
  fileKey?: string;
  /** File ids. */
  attachments?: readonly string[];
  /** What becomes of sentences that their sources do not support; they are shown as they are when absent. */
  unverified?: Unverified;
  /** Never skip retrieval. */
  requireRetrieval?: boolean;
  allRetrieved?: boolean;
  /** For administrators. */
  trace?: boolean;
  compareOriginal?: boolean;
  bypassRewriting?: boolean;
  disableReranker?: boolean;
  disableExpansion?: boolean;
}

export interface ChatRequest extends ChatSettings, ChatRequestOptions {
  scope: Scope;
  target: { kind: 'direct' } | { kind: 'retrieval'; partitions: readonly string[] | 'all' };
  messages: readonly ChatMessage[];
  temperature?: number;
  topP?: number;
  maxTokens?: number;
  stop?: string[];
  /** Fields of the chat format for the model server to understand. */
  more?: MoreFields;
  /** Whether fields of the client's own go to the model server; what it refuses of them is the client's fault. */
  ownFields?: boolean;
  signal: AbortSignal;
}

/** A file that was put into the context because the client named it. */
export interface Attachment {
  id: string;
  partition: string;
  filename: string;
}

/** Steps that failed and were left out. */
export type DegradedStep = 'websearch' | 'reranker';

export type ChatEvent =
  | ShownDelta
  | {
      type: 'end';
      finishReason: FinishReason;
      usage: { promptTokens: number; completionTokens: number };
      /** The model's stream broke off after the answer had begun; `error` says why. */
      truncated: boolean;
      error?: AppError;
      /** Addresses left out of the answer, since no source holds them. */
      linksRemoved?: number;
      sources: ChatSources;
      /** The sentences of an answer from sources, each beside those that it names. */
      sentences?: JudgedSentence[];
      /** The answer says that the sources do not hold what was asked. */
      refused: boolean;
      allRetrieved?: ChatSource[];
      /** What was searched for: the question, and what a model wrote of it. */
      searched?: string[];
      attachments?: Attachment[];
      degraded?: DegradedStep[];
      trace?: ChatTrace;
    };

/** The last event of an answer. */
export type ChatEnd = Extract<ChatEvent, { type: 'end' }>;
