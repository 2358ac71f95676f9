/**
 * Models, and the table of servers that they are made from; see `adapters.ts` for the rules that hold for all ports.
 */
import type { ModelEndpoint, ModelType, ProbedFacts } from '../../schemas/models/model-endpoints.js';

export interface Embedder {
  endpointName: string;
  modelName: string;
  dimension: number;
  vectorField: string;
  /** So many texts are worth handing over at once; any number is taken. */
  batchSize: number;
  /** Tokens that fit into one input; null when unknown. */
  maxInputTokens: number | null;
  /** Raw cosine that a hit must reach where a search names none; absent: the service's setting. */
  similarityThreshold?: number;
  /**
   * Unit-length vectors, in the order of the texts. A text with nothing to embed in it may give the zero vector,
   * which the chunk store leaves out. A text that is too long for the model is never cut: see `embedder` in
   * `models/`.
   * @throws AppError EMBEDDING_API_ERROR, EMBEDDING_RESPONSE_ERROR, INFERENCE_REFUSED, CIRCUIT_BREAKER_OPEN, or the
   * signal's reason
   */
  embed(
    texts: readonly string[],
    options: { kind: 'document' | 'query'; signal?: AbortSignal },
  ): Promise<number[][]>;
}

/** Fields of the chat format that we hand on without knowing them. */
export type MoreFields = Readonly<Record<string, unknown>>;

/** A picture in one of the formats that vision models take. */
export interface Picture {
  mimetype: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp';
  bytes: Buffer;
}

export interface ChatMessage {
  /** `function`: as `tool`, in the older way of calling. */
  role: 'system' | 'user' | 'assistant' | 'tool' | 'function';
  content: string;
  /** For models that see; others do not know what to do with them. */
  pictures?: readonly Picture[];
  /** `tool_calls`, `tool_call_id`, `name`, as they came. */
  more?: MoreFields;
}

export interface ChatOptions {
  temperature?: number;
  topP?: number;
  maxTokens?: number;
  stop?: string[];
  /** `tools`, `response_format`, `seed`, `logprobs` and the like: for the server to understand. */
  more?: MoreFields;
  signal?: AbortSignal;
}

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter' | 'function_call';

/** Log probability of one token, in the form of the OpenAI format. */
export interface TokenLogprob {
  token: string;
  [field: string]: unknown;
}

export interface ChatDelta {
  content: string;
  /** Other parts of the answer, in the form of the OpenAI format: deltas of `tool_calls`, `reasoning_content` … */
  more?: MoreFields;
  /** Of the tokens in `content`. */
  logprobs?: readonly TokenLogprob[];
  /** Set on the last delta only. */
  finishReason?: FinishReason;
  usage?: { promptTokens: number; completionTokens: number };
}

/** A whole answer. */
export interface ChatReply {
  content: string;
  finishReason: FinishReason;
  usage?: { promptTokens: number; completionTokens: number };
}

/**
 * Both methods throw AppError INFERENCE_ERROR, INFERENCE_CONNECTION_ERROR, INFERENCE_TIMEOUT, INFERENCE_REFUSED,
 * LLM_PARSING_ERROR, CONTEXT_TOO_LONG or CIRCUIT_BREAKER_OPEN, BAD_REQUEST for a field in `more` that changes the
 * answer and that the server does not know, or the signal's reason when aborted.
 */
export interface LanguageModel {
  endpointName: string;
  modelName: string;
  contextTokens: number;
  /** Most tokens of an answer where a request names no number; absent: the service's setting. */
  answerTokens?: number;
  /** Ends early, and stops the model, when the signal aborts or the consumer returns. */
  stream(messages: readonly ChatMessage[], options: ChatOptions): AsyncIterable<ChatDelta>;
  /** The whole answer at once, for steps whose words are not streamed to a client. */
  complete(messages: readonly ChatMessage[], options: ChatOptions): Promise<ChatReply>;
}

/** A model that reads a question and a text together and says how well the one answers the other. */
export interface Reranker {
  endpointName: string;
  modelName: string;
  /**
   * A score for each text, in their order; greater is better, and scores of two questions do not compare.
   * @throws AppError INFERENCE_ERROR with the status that the server answered, INFERENCE_CONNECTION_ERROR,
   * INFERENCE_TIMEOUT, INFERENCE_REFUSED, CIRCUIT_BREAKER_OPEN, or the signal's reason
   */
  rerank(query: string, texts: readonly string[], options: { signal?: AbortSignal }): Promise<number[]>;
}

/** A part of a recording, in seconds from its beginning. */
export interface TranscriptSegment {
  start: number;
  end: number;
  text: string;
}

export interface Transcript {
  text: string;
  /** In the order of the recording; none where the server gives no times. */
  segments: TranscriptSegment[];
}

/** A local file with the bytes of a recording, audio or video. */
export interface Recording {
  path: string;
  /** Its usual extension, by which servers tell formats apart. */
  extension: string;
  mimetype: string;
}

/** A model that writes down what is said in a recording. */
export interface Transcriber {
  endpointName: string;
  modelName: string;
  /**
   * @param options.prompt words that guide the model, in the language of the recording; null: none
   * @throws AppError INFERENCE_ERROR, INFERENCE_CONNECTION_ERROR, INFERENCE_TIMEOUT, INFERENCE_REFUSED,
   * LLM_PARSING_ERROR, CIRCUIT_BREAKER_OPEN; FILE_TOO_COMPLEX for a recording larger than the server takes,
   * UNSUPPORTED_CONTENT for one that it refuses; or the signal's reason
   */
  transcribe(
    recording: Recording,
    options: { prompt: string | null; signal?: AbortSignal },
  ): Promise<Transcript>;
}

/** Registered model servers; the default of each type is kept in one settings document. */
export interface ModelEndpointStore {
  /** By type and name. */
  list(type?: ModelType): Promise<ModelEndpoint[]>;
  get(type: ModelType, name: string): Promise<ModelEndpoint | null>;
  /** Inserts if (type, name) is missing; an existing record stays as it is. */
  seed(endpoint: ModelEndpoint): Promise<void>;
  /** Inserts or overwrites. */
  save(endpoint: ModelEndpoint): Promise<void>;
  /**
   * Inserts. One that is there because this very renaming was begun before is answered as it is.
   * @throws AppError MODEL_ENDPOINT_EXISTS
   */
  create(endpoint: ModelEndpoint): Promise<ModelEndpoint>;
  /** Overwrites what was read; false when it was changed, probed or removed since. */
  replace(before: ModelEndpoint, after: ModelEndpoint): Promise<boolean>;
  /** False when there is none. */
  remove(type: ModelType, name: string): Promise<boolean>;
  /**
   * Writes down what a probe told, unless the record names another server or model by now or has another dimension
   * already: vectors of two lengths must never meet in one field. Answers the record as it is afterwards.
   */
  recordProbe(probed: ModelEndpoint, facts: ProbedFacts, at: Date): Promise<ModelEndpoint | null>;
  /** `provisional`: chosen for want of anything better, see `confirmDefault`. */
  setDefaultIfUnset(type: ModelType, name: string, options?: { provisional?: boolean }): Promise<void>;
  /** Replaces a provisional default; any other stays. */
  confirmDefault(type: ModelType, name: string): Promise<void>;
  setDefault(type: ModelType, name: string): Promise<void>;
  /** The default goes over to another name, or (null) there is none any more; only while it is `from`. */
  moveDefault(type: ModelType, from: string, to: string | null): Promise<void>;
  defaults(): Promise<Partial<Record<ModelType, string>>>;
}

export interface ModelRegistry {
  list(type?: ModelType): Promise<(ModelEndpoint & { is_default: boolean })[]>;
  defaultName(type: ModelType): Promise<string | null>;
  /**
   * Its vector field is in the store. A server that was never asked before is probed first.
   * @throws AppError MODEL_ENDPOINT_NOT_FOUND, DEFAULT_EMBEDDER_MIGRATION_REQUIRED for `default` where none is called
   * so, or that the server cannot be used
   */
  embedder(name: string): Promise<Embedder>;
  /** The default one when no name is given, or `default`. @throws AppError MODEL_ENDPOINT_NOT_FOUND */
  languageModel(name?: string): Promise<LanguageModel>;
  /**
   * A language model that sees (type `vlm`): the default one when no name is given, or `default`.
   * @throws AppError MODEL_ENDPOINT_NOT_FOUND, CONFIG_ERROR when its server says that it does not see
   */
  visionModel(name?: string): Promise<LanguageModel>;
  /** The default one when no name is given; null without one. @throws AppError MODEL_ENDPOINT_NOT_FOUND */
  reranker(name?: string): Promise<Reranker | null>;
  /** The default one when no name is given; null without one. @throws AppError MODEL_ENDPOINT_NOT_FOUND */
  transcriber(name?: string): Promise<Transcriber | null>;
  /**
   * Asks the server of an endpoint for its list of models and looks for the endpoint's one in it.
   * @throws AppError MODEL_ENDPOINT_NOT_FOUND when it is not registered, others when the model cannot be used
   */
  check(type: ModelType, name: string, signal?: AbortSignal): Promise<void>;
}
