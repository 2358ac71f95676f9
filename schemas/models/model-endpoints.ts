/** The records of model servers. */
export const MODEL_TYPES = ['embedder', 'reranker', 'llm', 'vlm', 'stt'] as const;
export type ModelType = (typeof MODEL_TYPES)[number];

/** The dialects that a model server may speak: Ollama's own API, or the OpenAI format. */
export const MODEL_PROVIDERS = ['ollama', 'openai'] as const;
export type ModelProvider = (typeof MODEL_PROVIDERS)[number];

/**
 * What a reranker's server may speak: Infinity's and Cohere's form, text-embeddings-inference's, or the former behind
 * `/v1`. `onnx`: there is no server, the model runs in this process.
 */
export const RERANKER_PROVIDERS = ['infinity', 'openai', 'tei', 'onnx'] as const;
export type RerankerProvider = (typeof RERANKER_PROVIDERS)[number];

/** What `endpoint` reads for a model from the folder of models instead of a URL. */
export const ONNX_ENDPOINT = 'onnx:';

/** Whether a name can be that of a model's folder: one plain name, which leads nowhere else. */
export function isModelFolderName(name: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/.test(name);
}

/** A registered model server and the model asked of it. */
export interface ModelEndpoint {
  name: string;
  model_type: ModelType;
  /** URL of the server, `builtin:` or `onnx:`. */
  endpoint: string;
  model_name: string;
  /** Null until it is configured or a probe has told. */
  provider: ModelProvider | RerankerProvider | 'builtin' | null;
  /** Sealed with SECRETS_KEY; null: the server asks for none. */
  sealed_api_key: string | null;
  batch_size: number;
  /** Seconds. */
  timeout: number;
  /** What else the operator says of it; `provider` and the limits of a language model stand here. Never a key. */
  extra: Record<string, unknown>;
  /** Embedders only: the chunk field that holds their vectors, and their length. */
  vector_field: string | null;
  dimension: number | null;
  /** Tokens that the model takes at once; null when unknown. */
  context_tokens: number | null;
  /** Embedders only: `wordpiece` when texts must be normalised before the server sees them. Null until probed. */
  text_form: 'plain' | 'wordpiece' | null;
  /** When provider, dimension, context and text form were last read from the server; null: never. */
  probed_at: Date | null;
  /**
   * While it is being renamed there are two records: this one is the new, and what names the other is being changed.
   */
  renamed_from?: string;
  /** A start of a process put it there, and no administrator has edited it. */
  seeded?: true;
  created_at: Date;
  updated_at: Date;
}

/** What a probe of the server tells of an endpoint. */
export type ProbedFacts = Pick<ModelEndpoint, 'dimension' | 'context_tokens' | 'text_form'> & {
  provider: ModelProvider;
};
