import type { Config } from '../../schemas/config.js';
import type { IndexationConfig, PresetRecord, RetrievalConfig } from '../../schemas/documents.js';

/** Everything that a model would have to do is off: which models there are is for the operator to say. */
const INDEXATION: Omit<IndexationConfig, 'chunking'> = {
  parsing_strategy: null,
  stt: null,
  asr_transcription_prompt_name: null,
  vlm: null,
  enable_image_captioning: false,
  image_captioning_prompt_name: null,
  enable_contextualization: false,
  contextualization_llm: null,
  contextualization_mode: 'none',
  chunk_contextualizer_prompt_name: null,
  enable_metadata_extraction: false,
  enable_entity_extraction: false,
  entity_labels: [],
  enable_topic_tagging: false,
  max_topic_tags: 7,
  topic_tagger_prompt_name: null,
};

const RETRIEVAL: Omit<RetrievalConfig, 'type' | 'top_k' | 'top_n' | 'enable_reranker'> = {
  reranker: null,
  llm: null,
  similarity_threshold: null,
  include_related: true,
  include_ancestors: true,
  rrf_k: 60,
  hyde_prompt_name: null,
  multi_query_prompt_name: null,
  query_contextualizer_prompt_name: null,
};

type Seed = Pick<PresetRecord, 'name' | 'preset_type' | 'config'>;

/**
 * The presets that are there without anybody's doing (wire contract, section 1.10). What the environment sets
 * governs `default`, and the retrieval presets, which differ from it in their type alone.
 */
export const seededPresets = (config: Pick<Config, 'documents' | 'search' | 'chat'>): Seed[] => {
  const indexation = (name: string, size: number, overlap: number, rest: Partial<IndexationConfig> = {}) => ({
    name,
    preset_type: 'indexation' as const,
    config: {
      ...INDEXATION,
      ...rest,
      chunking: { name: 'recursive_splitter', chunk_size: size, chunk_overlap_rate: overlap },
    },
  });
  const retrieval = (name: string, type: RetrievalConfig['type']) => ({
    name,
    preset_type: 'retrieval' as const,
    config: {
      ...RETRIEVAL,
      type,
      top_k: config.search.candidates,
      top_n: config.chat.topN,
      enable_reranker: config.search.rerankerEnabled,
    },
  });
  return [
    indexation('default', config.documents.chunkSize, config.documents.chunkOverlapRate),
    indexation('legal', 1024, 0.25, { contextualization_mode: 'structured' }),
    indexation('finance', 768, 0.2),
    retrieval('default', 'single'),
    retrieval('multiquery', 'multiQuery'),
    retrieval('hyde', 'hyde'),
  ];
};
