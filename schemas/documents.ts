/** The records of the document job, as our stores keep them and our ports speak of them. */
import type { PromptType } from './prompts.js';

/** JSON values; integers that a double cannot hold exactly are bigint (exact within 64 bits). */
export type MetadataValue =
  string | number | bigint | boolean | null | MetadataValue[] | { [key: string]: MetadataValue };
export type Metadata = Record<string, MetadataValue>;

export const ROLES = ['viewer', 'editor', 'owner'] as const;
export type Role = (typeof ROLES)[number];

export const TASK_STATES = ['QUEUED', 'SERIALIZING', 'COMPLETED', 'FAILED', 'CANCELLED'] as const;
export type TaskState = (typeof TASK_STATES)[number];
export const ACTIVE_STATES = ['QUEUED', 'SERIALIZING'] as const satisfies readonly TaskState[];
export const FINAL_STATES = ['COMPLETED', 'FAILED', 'CANCELLED'] as const satisfies readonly TaskState[];
export const isFinalState = (state: TaskState): boolean =>
  (FINAL_STATES as readonly TaskState[]).includes(state);

/** What a model adds to a document. When one fails, the document is indexed without it (wire contract, section 3.2). */
const ENRICHMENT_STAGES = ['caption', 'contextualize', 'topic_tag'] as const;
export type EnrichmentStage = (typeof ENRICHMENT_STAGES)[number];

export const STAGES = [
  ...['queued', 'parse', 'chunk'],
  ...ENRICHMENT_STAGES,
  ...['embed', 'store', 'publish', 'done'],
] as const;
export type Stage = (typeof STAGES)[number];

/** Who asks. User 1 is the admin made from AUTH_TOKEN, and everybody when authentication is off. */
export interface Principal {
  userId: number;
  displayName: string;
  isAdmin: boolean;
}

/**
 * What a caller may see; built by the auth middleware, needed by every method that returns user data.
 * `all` is for a super admin and for the service's own clean-up only.
 */
export type Scope =
  | { readonly kind: 'all'; readonly userId: number }
  | { readonly kind: 'partitions'; readonly userId: number; readonly roles: Readonly<Record<string, Role>> };

/** Whether a partition lies inside a scope (own keys only: a partition may be named like an Object member). */
export const inScope = (scope: Scope, partition: string): boolean =>
  scope.kind === 'all' || Object.hasOwn(scope.roles, partition);

export interface UserRecord {
  user_id: number;
  display_name: string | null;
  /** Name at an identity provider; unique. */
  external_user_id: string | null;
  /** Unique, compared without case. */
  email: string | null;
  is_admin: boolean;
  /** Files this user may have; -1: no limit; null: DEFAULT_FILE_QUOTA. */
  file_quota: number | null;
  token_digest: string | null;
  created_at: Date;
  /** Being deleted: nobody but the clean-up sees it. */
  deleted_at: Date | null;
}

/** What an administrator may change of a user; absent fields stay as they are. */
export type UserPatch = Partial<
  Pick<UserRecord, 'display_name' | 'external_user_id' | 'email' | 'is_admin' | 'file_quota'>
>;

/** What a user has uploaded, wherever it lies; derived from the file records. */
export interface UploaderCounts {
  /** Live files. */
  files: number;
  /** Files whose first indexing still runs. */
  pending: number;
}

const UNLIMITED = -1;

/** Files a user may have; -1: no limit (administrators always). */
export const effectiveQuota = (
  user: Pick<UserRecord, 'is_admin' | 'file_quota'>,
  defaultQuota: number,
): number => {
  const quota = user.is_admin ? UNLIMITED : (user.file_quota ?? defaultQuota);
  return quota < 0 ? UNLIMITED : quota;
};

export interface PartitionRecord {
  partition: string;
  /** Surrogate, never reused: a deleted and recreated partition gets a new one, and has none of the old one's files. */
  partition_key: string;
  description: string | null;
  /** Name of the model endpoint whose vectors this partition's chunks carry. */
  embedder: string;
  /** Names of presets. */
  indexation_preset: string;
  retrieval_preset: string;
  /** Messages of a conversation that a chat looks at. */
  chat_history_depth: number;
  /** Name of a language model's endpoint; null: the default one. */
  chat_llm: string | null;
  /** Names of prompts by their type; types without one take the default. */
  generation_prompt_names: GenerationPromptNames;
  created_by: number;
  created_at: Date;
}

export interface GenerationPromptNames {
  sys_prompt?: string | null | undefined;
  spoken_style_answer?: string | null | undefined;
}

/** What an owner may change of a partition; absent fields stay as they are. */
export type PartitionPatch = Partial<
  Pick<
    PartitionRecord,
    | 'description'
    | 'embedder'
    | 'indexation_preset'
    | 'retrieval_preset'
    | 'chat_history_depth'
    | 'chat_llm'
    | 'generation_prompt_names'
  >
>;

/** What a partition has before anybody has chosen. */
export const PARTITION_DEFAULTS = {
  description: null,
  indexation_preset: 'default',
  retrieval_preset: 'default',
  chat_history_depth: 4,
  chat_llm: null,
  generation_prompt_names: {},
} as const satisfies PartitionPatch;

export interface Membership {
  user_id: number;
  partition: string;
  role: Role;
  added_at: Date;
}

/** The bytes of one upload, put down before anything else: workflows carry `upload_id` only. */
export interface UploadInfo {
  upload_id: string;
  /** Sanitised, safe to show and to write into a header. */
  filename: string;
  /** As the client sent it. */
  original_filename: string;
  mimetype: string;
  size_bytes: number;
  /** Hexadecimal SHA-256 of the bytes. */
  content_sha256: string;
}

/** What one published indexing made visible. */
export interface FileVersion extends UploadInfo {
  generation: number;
  task_id: string;
  metadata: Metadata;
  relationship_id: string | null;
  parent_id: string | null;
  chunk_count: number;
  /** Endpoint name of the embedder whose vectors the chunks carry. */
  embedder: string;
  /** When its indexing began. */
  indexed_at: Date;
  degraded_stages: string[];
}

/**
 * The record that decides what a file is. Every change of `live` and `pending_task` is one guarded update.
 * A file is visible exactly while `live` is set and `deleted_at` is not.
 */
export interface FileRecord {
  /** Surrogate, never reused: a deleted and recreated file gets a new one. */
  file_key: string;
  partition: string;
  /** Which partition of that name. */
  partition_key: string;
  file_id: string;
  /** Null once that user is deleted. */
  created_by: number | null;
  /** Keys of the workspaces it belongs to (not their ids, which may be used again). */
  workspaces: string[];
  /** Uploaded without workspaces: it outlives every workspace that it is attached to later. */
  independent: boolean;
  /** The greatest generation ever admitted for this file; admission refuses a smaller one. */
  latest_generation: number;
  live: FileVersion | null;
  pending_task: string | null;
  /** What was merged into the metadata since the pending task was admitted: its publication merges it as well. */
  metadata_patch: Metadata | null;
  /** Raised by every change: what was read at one revision is written only while it is still that one. */
  revision: number;
  /** Changes of the record, by token, that the chunks may not have followed yet. */
  chunk_updates: string[];
  created_at: Date;
  updated_at: Date;
  /** A tombstone waits for its clean-up; its name is free already. */
  deleted_at: Date | null;
}

export interface TaskFailure {
  code: string;
  message: string;
  /** Lines for administrators; at most 8,000 characters in all. */
  traceback: string[];
}

/** What the API says of a background task. A final state never changes. */
export interface TaskRecord {
  task_id: string;
  /** An upload to be read and embedded, or a live version of another file to be copied. */
  kind: 'index' | 'copy';
  state: TaskState;
  stage: Stage;
  /** 0 to 1. */
  progress: number;
  attempt: number;
  partition: string;
  file_id: string;
  file_key: string;
  generation: number;
  user_id: number;
  /** First indexing of the file (POST) or a replacement (PUT). */
  intent: 'create' | 'replace';
  /** Client metadata as uploaded, protected keys dropped. */
  metadata: Metadata;
  relationship_id: string | null;
  parent_id: string | null;
  upload: UploadInfo;
  /** Of a copy: the version that is copied. */
  source?: { file_key: string; generation: number };
  /** Somebody outside is told of its end. */
  has_callback?: boolean;
  /** What enrichment added: metadata beside the client's, parts of the list of contexts, and the stages that failed. */
  derived_metadata?: Metadata;
  context_parts?: number;
  degraded_stages?: EnrichmentStage[];
  embedder: string;
  error: TaskFailure | null;
  created_at: Date;
  started_at: Date | null;
  finished_at: Date | null;
  /** Set once Temporal has the workflow; the sweep starts what lacks it. */
  handed_over_at: Date | null;
  /** Set once nothing superfluous is left of the task; the sweep cleans what lacks it. */
  cleaned_at: Date | null;
}

export type CallbackState = 'waiting' | 'delivered' | 'failed' | 'withdrawn';

/** Who is to be told of a task's end, and what became of it. */
export interface CallbackRecord {
  task_id: string;
  url: string;
  /** Sent back as a bearer token; sealed in the store. */
  token: string | null;
  state: CallbackState;
  attempts: number;
  /** What the last attempt came to: a status, or why there was none. */
  last_status: number | null;
  last_error: string | null;
  created_at: Date;
  updated_at: Date;
}

/** A worker process as it reports itself every few seconds. */
export interface WorkerRecord {
  worker_id: string;
  /** Documents that it reads at once. */
  slots: number;
  started_at: Date;
  seen_at: Date;
  /** Per pool: the last wish to make it anew that has been obeyed; from its start on there is nothing to obey. */
  renewed: Record<string, Date>;
}

/** A piece of a document as the parser makes it, before it has a vector. */
export interface Chunk {
  /** 0, 1, 2 … within the file version. */
  position: number;
  text: string;
  /** 1-based; null where the format has no pages. */
  page: number | null;
  headingPath: string[];
  chunkType: 'text' | 'table' | 'code';
  tokens: number;
  sectionId: number;
}

/** Typed copy of one metadata value, so that filters compare numbers as numbers and dates as dates. */
export interface MetadataEntry {
  key: string;
  text?: string;
  number?: number;
  /** Integers that a double would round. */
  integer?: string;
  date?: string;
  bool?: boolean;
}

/** A chunk as the vector store keeps it. */
export interface StoredChunk {
  chunk_id: string;
  partition: string;
  file_id: string;
  file_key: string;
  generation: number;
  position: number;
  published: boolean;
  text: string;
  filename: string;
  heading_path: string[];
  page: number | null;
  chunk_type: Chunk['chunkType'];
  section_id: number;
  prev_section_id: number | null;
  next_section_id: number | null;
  relationship_id: string | null;
  parent_id: string | null;
  metadata: MetadataEntry[];
}

/** A named group of files of one partition. */
export interface WorkspaceRecord {
  /** Surrogate, never reused. */
  workspace_key: string;
  /** Chosen by the client; unique within the partition. */
  workspace_id: string;
  partition: string;
  display_name: string | null;
  created_by: number | null;
  created_at: Date;
  /** Set while its files are let go; the id is free already, and nobody but the clean-up sees it. */
  deleted: { at: Date; keepFiles: boolean } | null;
}

export type PresetType = 'indexation' | 'retrieval';

/** How documents are indexed (wire contract, section 1.10). */
export interface IndexationConfig {
  chunking: { name: string; chunk_size: number; chunk_overlap_rate: number };
  /** Null: the parser that the file's type calls for. */
  parsing_strategy: string | null;
  stt: string | null;
  asr_transcription_prompt_name: string | null;
  vlm: string | null;
  enable_image_captioning: boolean;
  image_captioning_prompt_name: string | null;
  enable_contextualization: boolean;
  contextualization_llm: string | null;
  contextualization_mode: 'none' | 'simple' | 'structured';
  chunk_contextualizer_prompt_name: string | null;
  enable_metadata_extraction: boolean;
  enable_entity_extraction: boolean;
  entity_labels: string[];
  enable_topic_tagging: boolean;
  max_topic_tags: number;
  topic_tagger_prompt_name: string | null;
}

/** How questions are answered (wire contract, section 1.10). */
export interface RetrievalConfig {
  type: 'single' | 'multiQuery' | 'hyde';
  reranker: string | null;
  llm: string | null;
  /** Candidates of each retrieval leg. */
  top_k: number;
  /** Pieces that a chat answer may use; null: as many as the server's setting says. */
  top_n: number | null;
  enable_reranker: boolean;
  /** Null: the endpoint's. */
  similarity_threshold: number | null;
  include_related: boolean;
  include_ancestors: boolean;
  rrf_k: number;
  hyde_prompt_name: string | null;
  multi_query_prompt_name: string | null;
  query_contextualizer_prompt_name: string | null;
}

interface PresetOf<Type extends PresetType, Config> {
  name: string;
  preset_type: Type;
  config: Config;
  /** Made by the service and never edited: it follows the environment at each start. */
  seeded: boolean;
  /** While it is being renamed there are two records: this one is the new, and partitions are being changed. */
  renamed_from?: string;
  created_at: Date;
  updated_at: Date;
}
export type IndexationPreset = PresetOf<'indexation', IndexationConfig>;
export type RetrievalPreset = PresetOf<'retrieval', RetrievalConfig>;
export type PresetRecord = IndexationPreset | RetrievalPreset;

/** A prompt that an operator wrote, or a bundled one put down for editing. */
export interface PromptRecord {
  /** Surrogate. */
  id: string;
  prompt_type: PromptType;
  /** Unique within its type; presets and partitions choose by it. */
  name: string;
  content: string;
  created_at: Date;
  updated_at: Date;
}

export const MODEL_TYPES = ['embedder', 'reranker', 'llm', 'vlm', 'stt'] as const;
export type ModelType = (typeof MODEL_TYPES)[number];

/** The dialects that a model server may speak: Ollama's own API, or the OpenAI format. */
export const MODEL_PROVIDERS = ['ollama', 'openai'] as const;
export type ModelProvider = (typeof MODEL_PROVIDERS)[number];

/** What a reranker's server may speak: Infinity's and Cohere's form, text-embeddings-inference's, or the former behind `/v1`. */
export const RERANKER_PROVIDERS = ['infinity', 'openai', 'tei'] as const;
export type RerankerProvider = (typeof RERANKER_PROVIDERS)[number];

/** A registered model server and the model asked of it. */
export interface ModelEndpoint {
  name: string;
  model_type: ModelType;
  /** URL of the server, or `builtin:`. */
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
  /** While it is being renamed there are two records: this one is the new, and what names the other is being changed. */
  renamed_from?: string;
  created_at: Date;
  updated_at: Date;
}

/** What a probe of the server tells of an endpoint. */
export type ProbedFacts = Pick<ModelEndpoint, 'dimension' | 'context_tokens' | 'text_form'> & {
  provider: ModelProvider;
};
