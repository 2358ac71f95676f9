/** The records of presets, and of the prompts that they name. */
import type { PromptType } from './prompts.js';

export type PresetType = 'indexation' | 'retrieval';

/** How documents are indexed (wire contract, section 1.10). */
export interface IndexationConfig {
  chunking: { name: string; chunk_size: number; chunk_overlap_rate: number };
  /** Null: the parser that the file's type calls for. */
  parsing_strategy: string | null;
  /** Tesseract's codes with `+` between them, `deu+eng` say; null: the server's setting. */
  ocr_languages: string | null;
  /** Attachments of a mail are files of their own; otherwise sections of it. */
  attachments_as_files: boolean;
  stt: string | null;
  asr_transcription_prompt_name: string | null;
  vlm: string | null;
  enable_image_captioning: boolean;
  image_captioning_prompt_name: string | null;
  enable_contextualization: boolean;
  contextualization_llm: string | null;
  contextualization_mode: 'none' | 'simple' | 'structured';
  contextualization_prompt_name: string | null;
  enable_metadata_extraction: boolean;
  enable_entity_extraction: boolean;
  entity_labels: string[];
  enable_topic_tagging: boolean;
  max_topic_tags: number;
  /** Null: the model that contextualises. */
  topic_tagging_llm: string | null;
  topic_tagging_prompt_name: string | null;
}

/** A config as an earlier release put it down, or as its clients send it. */
export type EarlierIndexationConfig = Omit<
  IndexationConfig,
  | 'ocr_languages'
  | 'attachments_as_files'
  | 'contextualization_prompt_name'
  | 'topic_tagging_llm'
  | 'topic_tagging_prompt_name'
> & {
  ocr_languages?: string | null | undefined;
  attachments_as_files?: boolean | undefined;
  contextualization_prompt_name?: string | null | undefined;
  /** Synonym of the one above. */
  chunk_contextualizer_prompt_name?: string | null | undefined;
  topic_tagging_llm?: string | null | undefined;
  topic_tagging_prompt_name?: string | null | undefined;
  /** Synonym of the one above. */
  topic_tagger_prompt_name?: string | null | undefined;
};

/**
 * The config under the names of this release. A name of now counts, also when it is null; its synonym counts where it
 * is left out. Contextualisation without a mode is `simple`: forms in use have a switch for the one and no field for
 * the other.
 */
export function currentIndexationConfig(given: EarlierIndexationConfig): IndexationConfig {
  const { chunk_contextualizer_prompt_name, topic_tagger_prompt_name, ...config } = given;
  const { contextualization_mode: mode, contextualization_prompt_name, topic_tagging_prompt_name } = config;
  return {
    ...config,
    ocr_languages: config.ocr_languages ?? null,
    attachments_as_files: config.attachments_as_files ?? false,
    contextualization_mode: config.enable_contextualization && mode === 'none' ? 'simple' : mode,
    contextualization_prompt_name:
      (contextualization_prompt_name === undefined
        ? chunk_contextualizer_prompt_name
        : contextualization_prompt_name) ?? null,
    topic_tagging_llm: config.topic_tagging_llm ?? null,
    topic_tagging_prompt_name:
      (topic_tagging_prompt_name === undefined ? topic_tagger_prompt_name : topic_tagging_prompt_name) ??
      null,
  };
}

/** How questions are answered (wire contract, section 1.10). */
export interface RetrievalConfig {
  type: 'single' | 'multiQuery' | 'hyde';
  reranker: string | null;
  llm: string | null;
  /** Candidates of each retrieval leg. */
  top_k: number;
  /** Chunks that a chat answer may use; null: as many as the server's setting says. */
  top_n: number | null;
  enable_reranker: boolean;
  /** Null: the endpoint's. */
  similarity_threshold: number | null;
  /** Share of the vectors in a fused score, 0 to 1; null: by what the embedder understands of the question. */
  vector_weight: number | null;
  include_related: boolean;
  include_ancestors: boolean;
  rrf_k: number;
  hyde_prompt_name: string | null;
  multi_query_prompt_name: string | null;
  query_contextualizer_prompt_name: string | null;
}

/** A config as an earlier release put it down. */
type EarlierRetrievalConfig = Omit<RetrievalConfig, 'vector_weight'> & {
  vector_weight?: number | null | undefined;
};

function currentRetrievalConfig(given: EarlierRetrievalConfig): RetrievalConfig {
  return { ...given, vector_weight: given.vector_weight ?? null };
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

/** A preset of an earlier release under the names of now. */
export function currentPreset<Preset extends PresetRecord>(preset: Preset): Preset {
  const config =
    preset.preset_type === 'indexation'
      ? currentIndexationConfig(preset.config)
      : currentRetrievalConfig(preset.config);
  return { ...preset, config };
}

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
