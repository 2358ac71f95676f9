import type { ModelType } from './model-endpoints.js';
import type { IndexationConfig, PresetType, RetrievalConfig } from './presets.js';
import type { PromptType } from './prompts.js';

/** What a preset's config names of other records: the field, and the type of what it names. */
type References<Config, Type> = Readonly<Partial<Record<keyof Config, Type>>>;

/** Fields that hold the name of a model endpoint. */
export const MODEL_REFERENCES: {
  indexation: References<IndexationConfig, ModelType>;
  retrieval: References<RetrievalConfig, ModelType>;
} = {
  indexation: { vlm: 'vlm', stt: 'stt', contextualization_llm: 'llm', topic_tagging_llm: 'llm' },
  retrieval: { reranker: 'reranker', llm: 'llm' },
};

/** Fields that hold the name of a prompt. */
export const PROMPT_REFERENCES: {
  indexation: References<IndexationConfig, PromptType>;
  retrieval: References<RetrievalConfig, PromptType>;
} = {
  indexation: {
    asr_transcription_prompt_name: 'asr_transcription',
    image_captioning_prompt_name: 'image_captioning',
    contextualization_prompt_name: 'chunk_contextualizer',
    topic_tagging_prompt_name: 'topic_tagger',
  },
  retrieval: {
    hyde_prompt_name: 'hyde',
    multi_query_prompt_name: 'multi_query',
    query_contextualizer_prompt_name: 'query_contextualizer',
  },
};

/** Prompts that a partition itself may name. */
export const PARTITION_PROMPTS = ['sys_prompt', 'spoken_style_answer'] as const satisfies PromptType[];

/** The fields of a config of one preset type that name a record of one type. */
export function fieldsNaming(
  references: Record<PresetType, Readonly<Record<string, string | undefined>>>,
  presetType: PresetType,
  type: string,
): string[] {
  return Object.entries(references[presetType]).flatMap(([field, named]) => (named === type ? [field] : []));
}
