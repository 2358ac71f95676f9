/** The records of presets, and of the prompts that they name. */
import type { PromptType } from './prompts.js';

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
